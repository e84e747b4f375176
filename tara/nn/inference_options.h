#ifndef TARA_NN_INFERENCE_OPTIONS_H_
#define TARA_NN_INFERENCE_OPTIONS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tara::nn {

// A device as it is written in options and configs.
struct DeviceText {
  bool is_cpu = true;
  int index = 0;     // of the CUDA device
  bool all = false;  // every CUDA device there is
};

// Reads "cpu", "cuda" (the first), "cuda:N" or "cuda:all". Whether there is
// such a device is not asked (tara/nn/torch/torch_runtime.h does).
// Returns INVALID_ARGUMENT for any other text.
absl::StatusOr<DeviceText> ParseDevice(absl::string_view text);

// The number type of the products of a network.
enum class Precision {
  kAuto,      // kInt8 of light networks; of towers kFloat32 on the CPU, and the
              // fastest accurate one on a GPU
  kFloat32,   // towers
  kBfloat16,  // towers on a GPU
  kFloat16,   // towers on a GPU
  kInt8,      // light networks
};

// The library that computes.
enum class InferenceBackend {
  kAuto,   // kTara on the CPU, else kTorch
  kTorch,  // LibTorch: the reference
  kTara,   // Tara's own kernels: on the CPU only
};

struct InferenceOptions {
  // "cpu", or devices of LibTorch: "cuda", "cuda:1" or "cuda:all"
  // (tara/nn/inference_options.h).
  std::string device = "cpu";
  InferenceBackend backend = InferenceBackend::kAuto;
  Precision precision = Precision::kAuto;
};

// The choices for options that were left open. A run records them for exact
// repetition.
struct InferenceInfo {
  InferenceBackend backend = InferenceBackend::kTorch;
  Precision precision = Precision::kFloat32;
};

// The names of device, backend and precision in configs, player specs and
// flags, as in "device=cpu", "backend=torch", "precision=int8".
bool IsInferenceOption(absl::string_view name);

// Sets an option. Returns INVALID_ARGUMENT "NAME is 'VALUE'; expected ..." for
// an unknown value. REQUIRES: IsInferenceOption(name).
absl::Status SetInferenceOption(absl::string_view name, absl::string_view value,
                                InferenceOptions& options);

// Returns the name of a precision: what SetInferenceOption takes.
absl::string_view PrecisionName(Precision precision);
absl::string_view BackendName(InferenceBackend backend);

}  // namespace tara::nn

#endif  // TARA_NN_INFERENCE_OPTIONS_H_
