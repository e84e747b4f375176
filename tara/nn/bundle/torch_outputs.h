#ifndef TARA_NN_BUNDLE_TORCH_OUTPUTS_H_
#define TARA_NN_BUNDLE_TORCH_OUTPUTS_H_

#include "absl/status/statusor.h"
#include "tara/nn/bundle/network_outputs.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {

// Returns what the network of the checkpoint says, computed by LibTorch on the
// CPU in float32 with all of its layers as they are learned: the reference for
// every other form. Returns INVALID_ARGUMENT naming a tensor that is missing or
// misshapen.
absl::StatusOr<NetworkOutputs> ComputeTorchOutputs(const Checkpoint& checkpoint,
                                                   const NetworkInputs& inputs);

}  // namespace tara::nn

#endif  // TARA_NN_BUNDLE_TORCH_OUTPUTS_H_
