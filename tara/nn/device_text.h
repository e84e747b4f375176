#ifndef TARA_NN_DEVICE_TEXT_H_
#define TARA_NN_DEVICE_TEXT_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tara::nn {

// What computes, as it is written in options and configs.
struct DeviceText {
  bool is_cpu = true;
  int index = 0;     // of the CUDA device
  bool all = false;  // every CUDA device there is
};

// Reads "cpu", "cuda" (the first), "cuda:N" or "cuda:all". Whether there is
// such a device is not asked (tara/nn/torch/torch_devices.h does).
// Returns INVALID_ARGUMENT for any other text.
absl::StatusOr<DeviceText> ParseDevice(absl::string_view text);

}  // namespace tara::nn

#endif  // TARA_NN_DEVICE_TEXT_H_
