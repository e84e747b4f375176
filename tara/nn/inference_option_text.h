#ifndef TARA_NN_INFERENCE_OPTION_TEXT_H_
#define TARA_NN_INFERENCE_OPTION_TEXT_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tara/nn/inference_options.h"

namespace tara::nn {

// The names of device, backend and precision in configs, player specs and
// flags, as in "device=cpu", "backend=torch", "precision=int8".
bool IsInferenceOption(absl::string_view name);

// Sets one of them. Returns INVALID_ARGUMENT "NAME is 'VALUE'; expected ..."
// when there is no such value. REQUIRES: IsInferenceOption(name).
absl::Status SetInferenceOption(absl::string_view name, absl::string_view value,
                                InferenceOptions& options);

// Returns the name of a precision: what SetInferenceOption takes.
absl::string_view PrecisionName(Precision precision);
absl::string_view BackendName(InferenceBackend backend);

}  // namespace tara::nn

#endif  // TARA_NN_INFERENCE_OPTION_TEXT_H_
