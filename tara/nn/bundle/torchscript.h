#ifndef TARA_NN_BUNDLE_TORCHSCRIPT_H_
#define TARA_NN_BUNDLE_TORCHSCRIPT_H_

// The network as TorchScript, which LibTorch and PyTorch load without a line of
// this project's code. Inputs and outputs: docs/reference/bundle.md.

#include <string>

#include "absl/status/statusor.h"
#include "tara/nn/bundle/float16.h"
#include "tara/nn/bundle/golden.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {

// Returns the bytes of a module of the folded network (FoldNorms), whose
// weights are kept as `weights` and computed with in float32.
// Returns INVALID_ARGUMENT naming a tensor that is missing.
absl::StatusOr<std::string> MakeTorchScript(const Checkpoint& folded,
                                            WeightType weights);

// Returns the outputs of a module. This executes it: a module may read and
// write files, never end and take all memory. DATA_LOSS if the bytes are no
// module, or one that fails or returns tensors of other shapes.
absl::StatusOr<NetworkOutputs> RunTorchScript(const std::string& module,
                                              const NetworkInputs& inputs,
                                              bool with_owner);

// Returns the outputs of the checkpoint's network, computed by LibTorch on the
// CPU in float32 with all of its layers as they are learned: the reference for
// every other form. Returns INVALID_ARGUMENT naming a tensor that is missing or
// misshapen.
absl::StatusOr<NetworkOutputs> ComputeTorchOutputs(const Checkpoint& checkpoint,
                                                   const NetworkInputs& inputs);

}  // namespace tara::nn

#endif  // TARA_NN_BUNDLE_TORCHSCRIPT_H_
