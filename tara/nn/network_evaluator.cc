#include "tara/nn/network_evaluator.h"

#include "absl/strings/str_cat.h"
#include "tara/base/status_macros.h"
#include "tara/nn/checkpoint.h"
#include "tara/nn/torch_evaluator.h"

namespace tara {

absl::StatusOr<std::unique_ptr<Evaluator>> LoadNetworkEvaluator(
    const std::string& checkpoint_path, const InferenceOptions& options) {
  if (options.device != "cpu") {
    return absl::UnimplementedError(absl::StrCat(
        "no backend computes on device '", options.device, "'; expected cpu"));
  }
  if (options.precision != Precision::kAuto &&
      options.precision != Precision::kFloat32) {
    return absl::UnimplementedError(
        "no backend computes in this precision; expected float32");
  }
  TARA_ASSIGN_OR_RETURN(const Checkpoint checkpoint,
                        ReadCheckpoint(checkpoint_path));
  auto evaluator = NewTorchEvaluator(checkpoint);
  if (evaluator.status().code() == absl::StatusCode::kInvalidArgument) {
    return absl::DataLossError(absl::StrCat(
        "Checkpoint ", checkpoint_path, ": ", evaluator.status().message()));
  }
  return evaluator;
}

}  // namespace tara
