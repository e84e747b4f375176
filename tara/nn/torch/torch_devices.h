#ifndef TARA_NN_TORCH_TORCH_DEVICES_H_
#define TARA_NN_TORCH_TORCH_DEVICES_H_

// Which devices this LibTorch can compute on, and what its failures mean.

#include <exception>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tara::nn {

// Returns the devices that a text of ParseDevice stands for, as LibTorch names
// them: {"cpu"}, {"cuda:0"} or {"cuda:0", "cuda:1", ...}; or
//   INVALID_ARGUMENT     the text names no device
//   FAILED_PRECONDITION  this LibTorch, or this machine, lacks it: what it has
absl::StatusOr<std::vector<std::string>> FindTorchDevices(
    absl::string_view text);

// Returns the status for an exception of LibTorch: RESOURCE_EXHAUSTED when a
// device's or the machine's memory did not suffice, with `hint` on what to do,
// else INTERNAL. `doing` is what failed, with its sizes, such as "evaluating
// 512 positions on cuda:0".
absl::Status TorchError(absl::string_view doing, absl::string_view hint,
                        const std::exception& error);

}  // namespace tara::nn

#endif  // TARA_NN_TORCH_TORCH_DEVICES_H_
