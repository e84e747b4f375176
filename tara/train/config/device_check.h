#ifndef TARA_TRAIN_CONFIG_DEVICE_CHECK_H_
#define TARA_TRAIN_CONFIG_DEVICE_CHECK_H_

#include "absl/status/status.h"
#include "proto/config.pb.h"

namespace tara::train {

// Checks that this machine, with this LibTorch, has the devices that a valid
// config names, and computes in its number type there. Returns
// FAILED_PRECONDITION naming the field, the device and what there is instead,
// or UNIMPLEMENTED naming the number type and why.
absl::Status CheckDevices(const proto::TrainConfig& config);

}  // namespace tara::train

#endif  // TARA_TRAIN_CONFIG_DEVICE_CHECK_H_
