#ifndef TARA_NN_CPU_CPU_NETWORK_H_
#define TARA_NN_CPU_CPU_NETWORK_H_

// A residual tower in float32, ready to run on the CPU and in WebAssembly.

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "tara/nn/cpu/cpu_kernels.h"
#include "tara/nn/encode/encoded_batch.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {

struct CpuBlockWeights {
  CpuConvolutionWeights first;
  CpuConvolutionWeights second;
  std::optional<CpuLinearWeights> pooled;  // [2 channels -> channels]
};

// The weights of a network as inference on the CPU uses them: norms folded into
// convolutions (FoldNorms), channels filled up with zeros to whole vectors, and
// without what only training needs. tara/nn/torch/network_torch.h draws the
// network.
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

// Positions of one run. Outputs do not depend on it.
inline constexpr std::array kCpuTiles = {16, 4, 1};
inline constexpr int kMaxCpuTile = kCpuTiles[0];

// The shared, constant part: weights and layers. Thread-safe.
class CpuNetwork {
 public:
  explicit CpuNetwork(CpuWeights weights);

  const CpuWeights& weights() const { return weights_; }

 private:
  friend class CpuContext;

  const CpuWeights weights_;
  const CpuKernels& kernels_;
  // The 3 x 3 convolutions: the stem, then two of each block.
  std::vector<WinogradLayer> winograd_;
  // The 1 x 1 convolutions, each a linear layer applied to every square.
  const CpuLinearWeights policy_;
  const CpuLinearWeights policy_planes_;
  const CpuLinearWeights value_;
};

// The buffers of one thread's runs. Not thread-safe.
class CpuContext {
 public:
  // The network must outlive it.
  explicit CpuContext(const CpuNetwork& network);
  ~CpuContext();

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
  struct Buffers;

  Outputs RunTile(const float* planes, const float* globals);
  int TowerSize(int tile) const;
  // Computes a convolution of `winograd_`, with ReLU.
  void Convolve(int convolution, const float* source, float* destination,
                bool add_to_destination) const;
  // Pools each position's rows into buffers_->pooled.
  void Pool(const TensorBuffer& rows) const;

  void RunStem(const float* planes, const float* globals) const;
  void RunBlock(int block) const;
  // A linear layer of each position, and of each of its squares.
  void Linear(const CpuLinearWeights& layer, bool relu, const float* inputs,
              float* outputs) const;
  void LinearOfSquares(const CpuLinearWeights& layer, bool relu,
                       const TensorBuffer& inputs,
                       const TensorBuffer& outputs) const;
  void RunPolicy() const;
  void RunValue() const;

  const CpuNetwork& network_;
  std::unique_ptr<Buffers> buffers_;
  int tile_ = 0;  // of what is computed
};

}  // namespace tara::nn

#endif  // TARA_NN_CPU_CPU_NETWORK_H_
