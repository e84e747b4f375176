#ifndef TARA_NN_INFERENCE_TORCH_INFERENCE_H_
#define TARA_NN_INFERENCE_TORCH_INFERENCE_H_

// LibTorch's part in inference. Two libraries define these functions, and
// ComputeTorchOutputs of tara/nn/bundle/golden.h; a program links one of them:
//
//   //tara/nn/inference:with_torch      computes by LibTorch
//   //tara/nn/inference:without_torch   refuses: for programs that load fast
//                                       and run without its 500 MB of libraries

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/inference_options.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {

// Returns OK if networks can be computed on the device: always for "cpu".
// INVALID_ARGUMENT if the text names no device; FAILED_PRECONDITION if this
// program, its LibTorch or the machine lacks it.
absl::Status CheckInferenceDevice(absl::string_view device);

// Loads a network into LibTorch. REQUIRES: options.backend is kTorch. Errors as
// of LoadNetwork; FAILED_PRECONDITION in a program without LibTorch.
absl::StatusOr<LoadedNetwork> LoadTorchNetwork(const Checkpoint& checkpoint,
                                               const InferenceOptions& options);

}  // namespace tara::nn

#endif  // TARA_NN_INFERENCE_TORCH_INFERENCE_H_
