#include <memory>
#include <utility>

#include "tara/base/status_macros.h"
#include "tara/nn/inference/torch_inference.h"
#include "tara/nn/torch/device_evaluator.h"
#include "tara/nn/torch/torch_evaluator.h"
#include "tara/nn/torch/torch_runtime.h"

namespace tara::nn {

absl::Status CheckInferenceDevice(absl::string_view device) {
  return FindTorchDevices(device).status();
}

absl::StatusOr<LoadedNetwork> LoadTorchNetwork(
    const Checkpoint& checkpoint, const InferenceOptions& options) {
  if (options.device == "cpu" && (options.precision == Precision::kAuto ||
                                  options.precision == Precision::kFloat32)) {
    TARA_ASSIGN_OR_RETURN(auto evaluator, NewTorchEvaluator(checkpoint));
    return LoadedNetwork{.evaluator = std::move(evaluator),
                         .info = {.backend = InferenceBackend::kTorch,
                                  .precision = Precision::kFloat32}};
  }
  TARA_ASSIGN_OR_RETURN(
      DeviceEvaluator made,
      NewDeviceEvaluator(checkpoint, {.device = options.device,
                                      .precision = options.precision}));
  return LoadedNetwork{.evaluator = std::move(made.evaluator),
                       .info = {.backend = InferenceBackend::kTorch,
                                .precision = made.precision}};
}

}  // namespace tara::nn
