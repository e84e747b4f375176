#ifndef TARA_NN_TORCH_FOLDED_NETWORK_TORCH_H_
#define TARA_NN_TORCH_FOLDED_NETWORK_TORCH_H_

// The network for inference in LibTorch, on any device and in any floating
// type. Only for the .cc files that compute with it.

#include <torch/torch.h>

#include <vector>

#include "tara/core/outcome.h"
#include "tara/nn/encode/encoded_batch.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/torch/network_torch.h"

namespace tara::nn {

// The outputs for a position are one row of logits: the policy's, then win,
// draw and loss, then the margins.
inline constexpr int kResultColumn = kNumPolicyOutputs;
inline constexpr int kMarginsColumn = kResultColumn + kNumResults;
inline constexpr int kNumNetworkOutputs = kMarginsColumn + kNumMargins;

// Returns where the parts of row i lie in [B, kNumNetworkOutputs] floats.
inline RawOutput RowOfOutputs(const float* outputs, int i) {
  const float* const row = outputs + size_t{kNumNetworkOutputs} * i;
  return {.policy = row,
          .result = row + kResultColumn,
          .margins = row + kMarginsColumn};
}

// The network without what only training needs: norms are folded into the
// convolutions before them,
//   norm(conv(x)) = conv'(x),  w' = w g / s,  b' = b - m g / s,
// g and b the norm's weight and bias, m its mean, s = sqrt(variance + eps).
// Thread-safe. Independent of the network that it was made of.
class FoldedNetwork {
 public:
  // The tower computes in `type` (kFloat, kBFloat16 or kHalf); the last layers
  // of the value head, which are small and must tell small differences, in
  // float32. REQUIRES: `network` is on the CPU.
  FoldedNetwork(const Network& network, const c10::Device& device,
                at::ScalarType type);

  // Returns [B, kNumNetworkOutputs], float32. The inputs are float32, on the
  // device; planes [B, P, 7, 7] in channels-last memory.
  // REQUIRES: in inference mode.
  at::Tensor Forward(const at::Tensor& planes, const at::Tensor& globals) const;

 private:
  struct Conv {
    at::Tensor weight;
    at::Tensor bias;
    at::Tensor operator()(const at::Tensor& input) const;
  };
  struct Linear {
    at::Tensor weight;
    at::Tensor bias;  // undefined: none
    at::Tensor operator()(const at::Tensor& input) const;
  };
  struct Block {
    Conv first;
    Conv second;
    std::vector<Linear> pooled;  // one, or none
  };

  Conv MakeConv(const at::Tensor& weight, const at::Tensor& bias) const;
  Conv Fold(const torch::nn::Conv2d& conv,
            const torch::nn::BatchNorm2d& norm) const;
  Linear MakeLinear(const torch::nn::Linear& linear, at::ScalarType type) const;

  const c10::Device device_;
  const at::ScalarType type_;
  at::Tensor hills_;
  Conv stem_;
  Linear stem_globals_;
  std::vector<Block> blocks_;
  Conv policy_conv_;
  Linear policy_pooled_;
  Conv policy_planes_;
  Linear policy_pass_;
  Conv value_conv_;
  Linear value_hidden_;
  Linear value_output_;
};

}  // namespace tara::nn

#endif  // TARA_NN_TORCH_FOLDED_NETWORK_TORCH_H_
