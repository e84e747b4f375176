#include "absl/strings/str_cat.h"
#include "tara/base/status_macros.h"
#include "tara/nn/bundle/golden.h"
#include "tara/nn/inference/network_evaluator.h"

namespace tara::nn {

absl::Status CheckInferenceDevice(absl::string_view device) {
  TARA_ASSIGN_OR_RETURN(const DeviceText parsed, ParseDevice(device));
  if (parsed.is_cpu) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("device '", device,
                   "': this program is without LibTorch; expected device cpu"));
}

absl::StatusOr<LoadedNetwork> LoadTorchNetwork(const Checkpoint&,
                                               const InferenceOptions&) {
  return absl::FailedPreconditionError(
      "backend 'torch': this program is without LibTorch; expected backend "
      "tara");
}

absl::Status ComputeTorchOutputs(const Checkpoint&, GoldenTensors&) {
  return absl::UnavailableError("this program is without LibTorch");
}

}  // namespace tara::nn
