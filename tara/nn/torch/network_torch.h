#ifndef TARA_NN_TORCH_NETWORK_TORCH_H_
#define TARA_NN_TORCH_NETWORK_TORCH_H_

// The network in LibTorch. Only for the .cc files that compute with it: this
// header brings LibTorch along.
//
//   planes [B, P, 7, 7]   globals [B, G]
//            |               |
//        conv 3x3         linear            stem: the globals are a bias
//            +-------(+)-----+              of each channel
//               norm, ReLU
//                   |
//        residual block  x blocks
//                   |
//      +------------+-------------+
//      |                          |
//   conv 1x1, norm,           conv 1x1, norm, ReLU
//   + linear of pooled            |
//   ReLU      |               pooled
//      |      |                   |
//   conv 1x1  |               linear, ReLU, linear
//      |   linear                 |
//   planes [B, 19, 7, 7]       result [B, 3], margins [B, 95]
//   + pass [B, 1]
//
// A block:  y = ReLU(norm(conv(x))),  z = ReLU(norm(conv(y)) + x [+ bias]);
// in every second one, the first included, bias = linear(pooled(y)): what
// happens anywhere on the board reaches every hill at once. "Pooled" is the
// mean and the maximum of each channel over the 45 hills.
// Auxiliary heads (tara/nn/heads.h) are computed only on request:
//
//   owner of each hill at the end    conv 1x1 of what the value head pools
//   kingdoms of both sides then      linear of what its last layer sees
//   the opponent's reply             as the policy, from the same planes
//
// Margins are a distribution, one logit each, so that a search may weigh them
// by any utility (tara/mcts/utility.h).
// Source: global pooling as a bias, Wu 2019 (arXiv:1902.10565), section 3.3;
// ownership and the reply as auxiliary targets, sections 4.1 and 3.4.

#include <torch/torch.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tara/nn/encode/encoded_batch.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/heads.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {

// The mean of |margin| by the initial outputs of a new network, in points:
// about that of random games (chances proportional to exp(-|margin| / this)).
inline constexpr float kInitialMarginSpread = 4.0f;

// Logits; undefined where a head was not computed.
using NetworkOutput = PerHead<at::Tensor>;

// Returns the batch's inputs as tensors that share its memory: planes
// [B, kNumPlanes, 7, 7] in channels-last memory, and globals [B, kNumGlobals].
at::Tensor PlanesOf(const EncodedBatch& batch);
at::Tensor GlobalsOf(const EncodedBatch& batch);

// Returns a [1, 1, 7, 7] tensor that is 1 on hills and 0 on corners.
at::Tensor MakeHillMask();

// Returns [B, C] as a bias of [B, C, 7, 7]: [B, C, 1, 1].
at::Tensor OfChannels(const at::Tensor& values);

// Returns the mean and the maximum over the hills of each channel: [B, 2C] from
// `values` [B, C, 7, 7], non-negative, and `hills` [1, 1, 7, 7], 1 on hills.
at::Tensor PoolHills(const at::Tensor& values, const at::Tensor& hills);

// A convolution without bias that keeps the grid's size, batch norm, sum, ReLU:
//   ReLU(norm(conv(input)) + residual + bias), as NormRelu has it.
class ConvNorm : public torch::nn::Module {
 public:
  ConvNorm(int in_channels, int out_channels, int kernel_size);
  at::Tensor forward(const at::Tensor& input, const at::Tensor& residual = {},
                     const at::Tensor& bias = {});

  torch::nn::Conv2d conv;
  torch::nn::BatchNorm2d norm;
};

class ResidualBlock : public torch::nn::Module {
 public:
  ResidualBlock(int channels, bool pools);
  at::Tensor forward(const at::Tensor& input, const at::Tensor& hills);

  std::shared_ptr<ConvNorm> first;
  std::shared_ptr<ConvNorm> second;
  torch::nn::Linear pooled{nullptr};  // null in blocks that do not pool
};

class Network : public torch::nn::Module {
 public:
  explicit Network(const NetworkShape& shape);
  // Computes the heads that play, and the requested auxiliary heads.
  NetworkOutput forward(const at::Tensor& planes, const at::Tensor& globals,
                        const PerHead<bool>& asked = {});
  // Moves all that it computes with. Tensors that share its memory follow.
  void MoveTo(const c10::Device& device);

  const NetworkShape shape;
  torch::nn::Conv2d stem_conv{nullptr};
  torch::nn::Linear stem_globals{nullptr};
  torch::nn::BatchNorm2d stem_norm{nullptr};
  std::vector<std::shared_ptr<ResidualBlock>> blocks;
  std::shared_ptr<ConvNorm> policy_conv;
  torch::nn::Linear policy_pooled{nullptr};
  torch::nn::Conv2d policy_planes{nullptr};
  torch::nn::Linear policy_pass{nullptr};
  std::shared_ptr<ConvNorm> value_conv;
  torch::nn::Linear value_hidden{nullptr};
  torch::nn::Linear value_output{nullptr};  // win, draw, loss, then the margins
  // Last in the order of the weights: others than theirs are drawn first.
  torch::nn::Conv2d owner_planes{nullptr};
  torch::nn::Linear kingdoms_output{nullptr};
  torch::nn::Conv2d reply_planes{nullptr};
  torch::nn::Linear reply_pass{nullptr};

 private:
  at::Tensor hills_;
};

// Returns the output with all logits in float32.
NetworkOutput ToFloat32(const NetworkOutput& output);

// Draws new weights, from `seed` alone (He et al. 2015, arXiv:1502.01852;
// the last layers smaller, so that initial outputs are near uniform). Initial
// margins are spread by kInitialMarginSpread in every position: most are out of
// reach, which a network should not need to learn. REQUIRES: on the CPU.
void InitializeWeights(uint64_t seed, Network& network);

// The tensors that make up a network, by name: its parameters, and the running
// means and variances of its norms. They share memory with the network.
std::vector<std::pair<std::string, at::Tensor>> NetworkTensors(
    const Network& network);

// Copies the tensor's values out of, or into, one of the same name and shape.
NamedTensor ToNamedTensor(const std::string& name, const at::Tensor& tensor);
absl::Status FromCheckpoint(const Checkpoint& checkpoint,
                            const std::string& name, at::Tensor& tensor);

// Fills the network with the checkpoint's weights, those with names that begin
// with `prefix`. Auxiliary heads that it lacks stay as they are. Returns
// INVALID_ARGUMENT naming the tensor that is missing or has another shape.
absl::Status LoadWeights(const Checkpoint& checkpoint, Network& network,
                         absl::string_view prefix = "");

// The outputs for a position are one row of logits: the policy's, then win,
// draw and loss, then the margins.
inline constexpr int kNumNetworkOutputs = kNumPolicyOutputs + kNumValueOutputs;

// The network for inference, on any device and in any floating type, without
// what only training needs. Thread-safe. Independent of the checkpoint that it
// was made of.
class FoldedNetwork {
 public:
  // The tower computes in `type` (kFloat, kBFloat16 or kHalf); the last layers
  // of the value head, which are small and must tell small differences, in
  // float32. REQUIRES: `folded` is of FoldNorms (tara/nn/weights/fold_norms.h),
  // of a tower whose tensors have their shapes.
  FoldedNetwork(const Checkpoint& folded, const c10::Device& device,
                at::ScalarType type);

  // Returns [B, kNumNetworkOutputs], float32. The inputs are float32, on the
  // device; planes [B, P, 7, 7] in channels-last memory.
  // REQUIRES: in inference mode.
  at::Tensor Forward(const at::Tensor& planes, const at::Tensor& globals) const;

 private:
  // A convolution, by the axes of its weight, or a linear layer.
  struct Layer {
    at::Tensor weight;
    at::Tensor bias;  // undefined: none
    at::Tensor operator()(const at::Tensor& input) const;
  };
  struct Block {
    Layer first, second;
    Layer pooled;  // undefined where the block does not pool
  };

  const at::ScalarType type_;
  const at::Tensor hills_;
  Layer stem_, stem_globals_;
  std::vector<Block> blocks_;
  Layer policy_conv_, policy_pooled_, policy_planes_, policy_pass_;
  Layer value_conv_, value_hidden_, value_output_;
};

}  // namespace tara::nn

#endif  // TARA_NN_TORCH_NETWORK_TORCH_H_
