#ifndef TARA_NN_CPU_CPU_WEIGHTS_H_
#define TARA_NN_CPU_CPU_WEIGHTS_H_

// The weights of a network as inference on the CPU uses them: norms folded into
// convolutions (FoldNorms), channels filled up with zeros to whole vectors, and
// without what only training needs. tara/nn/torch/network_torch.h draws the
// network.

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {

// Channels come in vectors of this many floats.
inline constexpr int kChannelVector = 16;

constexpr int WholeVectors(int channels) {
  return (channels + kChannelVector - 1) / kChannelVector * kChannelVector;
}

// A convolution over the 7 x 7 grid that keeps its size.
struct CpuConvolutionWeights {
  int in = 0;
  int out = 0;                // a multiple of kChannelVector
  int kernel = 1;             // 1 or 3
  std::vector<float> weight;  // [out, in, kernel, kernel]
  std::vector<float> bias;    // [out]
};

// output[o] = bias[o] + sum over i of input[i] * weight[i][o]
struct CpuLinearWeights {
  int in = 0;
  int out = 0;                // a multiple of kChannelVector
  std::vector<float> weight;  // [in, out]
  std::vector<float> bias;    // [out]
};

struct CpuBlockWeights {
  CpuConvolutionWeights first;
  CpuConvolutionWeights second;
  std::optional<CpuLinearWeights> pooled;  // [2 channels -> channels]
};

struct CpuWeights {
  int channels = 0;  // of the tower; a multiple of kChannelVector
  CpuConvolutionWeights stem;
  CpuLinearWeights stem_globals;
  std::vector<CpuBlockWeights> blocks;
  CpuConvolutionWeights policy;
  // Of the pooled tower: the bias of each channel of `policy`, then the logit
  // of passing as output number `channels`.
  CpuLinearWeights policy_pooled;
  CpuConvolutionWeights policy_planes;  // kNumPolicyPlanes, filled up
  CpuConvolutionWeights value;
  CpuLinearWeights value_hidden;
  CpuLinearWeights value_output;  // win, draw, loss, then margins; filled up
};

// Returns the weights of the checkpoint's network, or INVALID_ARGUMENT when a
// tensor is missing or misshapen, naming it.
absl::StatusOr<CpuWeights> FoldCpuWeights(const Checkpoint& checkpoint);

}  // namespace tara::nn

#endif  // TARA_NN_CPU_CPU_WEIGHTS_H_
