#ifndef TARA_NN_TORCH_TORCH_RUNTIME_H_
#define TARA_NN_TORCH_TORCH_RUNTIME_H_

#include <exception>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tara::nn {

// Sets how many threads LibTorch uses for operations that the calling thread
// starts, and, the first time, readies the process for tensors. Evaluators and
// trainers call it whenever they are called. Cheap if the number has not
// changed. Thread-safe. REQUIRES: threads > 0.
//
// The number is kept by thread because OpenMP does so: without it each new
// thread would begin with one thread per core.
//
// Allocator: glibc gives large blocks back to the kernel when they are freed,
// so that each operation of LibTorch pays for page faults; the thresholds are
// raised to keep them. OpenBLAS, whose threads are its own and shared by the
// whole process, gets one: it only computes the small linear layers.
void SetTorchThreads(int threads);

// Which devices this LibTorch can compute on, and what its failures mean.

// Returns the devices that a text of ParseDevice stands for, as LibTorch names
// them: {"cpu"}, {"cuda:0"} or {"cuda:0", "cuda:1", ...}; or
//   INVALID_ARGUMENT     the text names no device
//   FAILED_PRECONDITION  this LibTorch or this machine lacks the device
absl::StatusOr<std::vector<std::string>> FindTorchDevices(
    absl::string_view text);

// Returns the status for an exception of LibTorch: RESOURCE_EXHAUSTED when a
// device's or the machine's memory did not suffice, with `hint` on what to do,
// else INTERNAL. `doing` is what failed, with its sizes, such as "evaluating
// 512 positions on cuda:0".
absl::Status TorchError(absl::string_view doing, absl::string_view hint,
                        const std::exception& error);

}  // namespace tara::nn

#endif  // TARA_NN_TORCH_TORCH_RUNTIME_H_
