#include "tara/train/config/learner_device.h"

#include "absl/strings/str_cat.h"
#include "tara/nn/device_text.h"

namespace tara::train {

absl::StatusOr<LearnerDevice> LearnerDeviceOf(
    const proto::LearnerConfig& learner) {
  LearnerDevice result;
  const auto device = nn::ParseDevice(learner.device());
  // One network learns, on one device.
  if (!device.ok() || device->all) {
    return absl::InvalidArgumentError(
        absl::StrCat("learner.device: '", learner.device(),
                     "'; expected cpu, cuda or cuda:N (N from 0)"));
  }
  if (!device->is_cpu) result.cuda_device = device->index;
  if (learner.autocast() != "off" && learner.autocast() != "bfloat16") {
    return absl::InvalidArgumentError(
        absl::StrCat("learner.autocast: '", learner.autocast(),
                     "'; expected off or bfloat16"));
  }
  result.autocast = learner.autocast() == "bfloat16";
  return result;
}

}  // namespace tara::train
