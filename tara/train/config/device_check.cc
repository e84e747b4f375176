#include "tara/train/config/device_check.h"

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tara/base/status_macros.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/inference_options.h"
#include "tara/nn/torch/torch_devices.h"
#include "tara/nn/training/trainer.h"
#include "tara/nn/weights/checkpoint.h"
#include "tara/train/config/search_config.h"

namespace tara::train {
namespace {

absl::Status CheckDevice(absl::string_view field, const std::string& device) {
  const absl::Status status = nn::FindTorchDevices(device).status();
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat(field, ": ", status.message()));
}

// Makes a network of the least size: number types do not go by it.
absl::Status CheckNumberType(const proto::InferenceConfig& inference) {
  TARA_ASSIGN_OR_RETURN(const nn::InferenceOptions options,
                        InferenceOptionsOf(inference));
  TARA_ASSIGN_OR_RETURN(
      const nn::Checkpoint checkpoint,
      nn::NewCheckpoint({.channels = 8, .blocks = 1}, /*seed=*/1));
  const absl::Status status =
      nn::MakeNetwork("a new network", checkpoint, options).status();
  if (status.ok()) return status;
  return absl::Status(
      status.code(),
      absl::StrCat("inference.precision: ", inference.precision(),
                   " with inference.backend: ", inference.backend(),
                   " and inference.device: ", inference.device(), ": ",
                   status.message()));
}

}  // namespace

absl::Status CheckDevices(const proto::TrainConfig& config) {
  TARA_RETURN_IF_ERROR(
      CheckDevice("inference.device", config.inference().device()));
  TARA_RETURN_IF_ERROR(
      CheckDevice("learner.device", config.learner().device()));
  return CheckNumberType(config.inference());
}

}  // namespace tara::train
