#ifndef TARA_TRAIN_CONFIG_DEVICE_CHECK_H_
#define TARA_TRAIN_CONFIG_DEVICE_CHECK_H_

#include "absl/status/status.h"
#include "proto/config.pb.h"

namespace tara {

// Checks that this machine, with this LibTorch, has the devices that a valid
// config names: before a run makes its folder. Returns FAILED_PRECONDITION
// naming the field, the device and what there is instead.
absl::Status CheckDevices(const proto::TrainConfig& config);

}  // namespace tara

#endif  // TARA_TRAIN_CONFIG_DEVICE_CHECK_H_
