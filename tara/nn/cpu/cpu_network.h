#ifndef TARA_NN_CPU_CPU_NETWORK_H_
#define TARA_NN_CPU_CPU_NETWORK_H_

// A residual tower in float32, ready to run on the CPU and in WebAssembly.

#include <array>
#include <functional>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "tara/nn/cpu/cpu_kernels.h"
#include "tara/nn/encode/encoded_batch.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {

// The layers of a network as inference on the CPU uses them: norms folded into
// convolutions (FoldNorms), channels filled up with zeros to whole vectors, and
// without what only training needs. Convolutions of 1 x 1 are linear layers of
// the squares. tara/nn/torch/network_torch.h draws the network.
struct CpuNetwork {
  struct Block {
    WinogradLayer first;
    WinogradLayer second;
    std::optional<CpuLinearWeights> pooled;  // [2 channels -> channels]
  };

  int channels = 0;  // of the tower; a multiple of kChannelVector
  WinogradLayer stem;
  CpuLinearWeights stem_globals;
  std::vector<Block> blocks;
  CpuLinearWeights policy;
  // Of the pooled tower: the bias of each channel of `policy`, then the logit
  // of passing as output number `channels`.
  CpuLinearWeights policy_pooled;
  CpuLinearWeights policy_planes;  // kNumPolicyPlanes, filled up
  CpuLinearWeights value;
  CpuLinearWeights value_hidden;
  CpuLinearWeights value_output;  // win, draw, loss, then margins; filled up
};

// Returns the checkpoint's network, or INVALID_ARGUMENT when a tensor is
// missing or misshapen, naming it.
absl::StatusOr<CpuNetwork> MakeCpuNetwork(const Checkpoint& checkpoint);

// Positions of one run. Outputs do not depend on it.
inline constexpr std::array kCpuTiles = {16, 4, 1};
inline constexpr int kMaxCpuTile = kCpuTiles[0];

// The buffers of one thread's runs. Not thread-safe.
class CpuContext {
 public:
  // The network must outlive it.
  explicit CpuContext(const CpuNetwork& network);

  // The outputs of a run, for its n positions.
  struct Outputs {
    const float* policy_rows;  // [n, 49, policy_channels]: a plane a channel
    int policy_channels;
    const float* pass;  // of position i: pass[i * pass_stride]
    int pass_stride;
    const float* value;  // [n, value_stride]: win, draw, loss, then margins
    int value_stride;
    // A layer of the value head that the head of owners shares.
    const float* value_rows;  // [n, 49, channels of the tower]

    // The logit of a policy output (PolicyOutput) of position i.
    float Policy(int i, int output) const {
      if (output == kPassOutput) return pass[i * pass_stride];
      const int row = i * kNumSquares + output % kNumSquares;
      return policy_rows[row * policy_channels + output / kNumSquares];
    }
  };

  // Called when a tile is computed, with its first position and its size.
  using Visitor = std::function<void(int first, int size, const Outputs&)>;

  // Computes the batch, tile by tile.
  void Run(const EncodedBatch& batch, const Visitor& visit);

 private:
  Outputs RunTile(const float* planes, const float* globals);
  // Floats of the tower's channels on all squares of some positions.
  int TowerSize(int positions) const {
    return positions * kNumSquares * network_.channels;
  }
  // Computes a convolution with ReLU.
  void Convolve(const WinogradLayer& layer, const float* source,
                const TensorBuffer& destination, bool add_to_destination) const;
  // Computes a linear layer of each position, or of each of its squares.
  void Linear(const CpuLinearWeights& layer, bool relu, const float* inputs,
              const TensorBuffer& outputs) const {
    kernels_.linear(layer, layer.bias.data(), tile_, relu, inputs,
                    outputs.data());
  }
  void LinearOfSquares(const CpuLinearWeights& layer, bool relu,
                       const TensorBuffer& inputs,
                       const TensorBuffer& outputs) const {
    kernels_.linear(layer, layer.bias.data(), tile_ * kNumSquares, relu,
                    inputs.data(), outputs.data());
  }
  // Pools each position's rows into pooled_.
  void Pool(const TensorBuffer& rows) const;

  void RunBlock(const CpuNetwork::Block& block) const;
  void RunPolicy() const;
  void RunValue() const;

  const CpuNetwork& network_;
  const CpuKernels& kernels_ = BestCpuKernels();
  int tile_ = 0;               // of what is computed
  TensorBuffer tower_;         // [tile, 49, channels]
  TensorBuffer inner_;         // [tile, 49, channels]
  TensorBuffer pooled_;        // [tile, 2 channels]
  TensorBuffer bias_;          // [tile, channels]
  TensorBuffer policy_;        // [tile, 49, channels]
  TensorBuffer policy_bias_;   // [tile, channels, then the logit of passing]
  TensorBuffer policy_rows_;   // [tile, 49, policy planes, filled up]
  TensorBuffer value_;         // [tile, 49, channels]
  TensorBuffer hidden_;        // [tile, hidden]
  TensorBuffer value_output_;  // [tile, outputs, filled up]
  TensorBuffer scratch_;
};

}  // namespace tara::nn

#endif  // TARA_NN_CPU_CPU_NETWORK_H_
