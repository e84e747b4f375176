#include "tara/train/config/device_check.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tara/base/status_macros.h"
#include "tara/nn/torch/torch_devices.h"

namespace tara {
namespace {

absl::Status CheckDevice(absl::string_view field, const std::string& device) {
  const absl::Status status = FindTorchDevices(device).status();
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat(field, ": ", status.message()));
}

}  // namespace

absl::Status CheckDevices(const proto::TrainConfig& config) {
  TARA_RETURN_IF_ERROR(
      CheckDevice("inference.device", config.inference().device()));
  return CheckDevice("learner.device", config.learner().device());
}

}  // namespace tara
