#ifndef TARA_TRAIN_CONFIG_LEARNER_DEVICE_H_
#define TARA_TRAIN_CONFIG_LEARNER_DEVICE_H_

#include "absl/status/statusor.h"
#include "proto/config.pb.h"

namespace tara::train {

// Where, and in which types, a config says to learn.
struct LearnerDevice {
  int cuda_device = -1;  // as in TrainerOptions: below 0, the CPU
  bool autocast = false;
};

// Reads learner.device and learner.autocast. Returns INVALID_ARGUMENT naming
// the field, its value and what was expected.
absl::StatusOr<LearnerDevice> LearnerDeviceOf(
    const proto::LearnerConfig& learner);

}  // namespace tara::train

#endif  // TARA_TRAIN_CONFIG_LEARNER_DEVICE_H_
