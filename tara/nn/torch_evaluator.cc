#include "tara/nn/torch_evaluator.h"

#include <torch/torch.h>

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tara/base/check.h"
#include "tara/base/status_macros.h"
#include "tara/core/outcome.h"
#include "tara/nn/checkpoint.h"
#include "tara/nn/encoded_batch.h"
#include "tara/nn/features.h"
#include "tara/nn/network_torch.h"
#include "tara/nn/policy_map.h"
#include "tara/nn/torch_runtime.h"

namespace tara {
namespace {

// Positions computed together: more no longer fit the cache.
constexpr int kMaxBatch = 128;

// A convolution with the norm that follows it folded in:
//   norm(conv(x)) = conv'(x),  w' = w g / s,  b' = b - m g / s,
// g and b the norm's weight and bias, m its mean, s = sqrt(variance + eps).
struct FoldedConv {
  at::Tensor weight;
  at::Tensor bias;

  at::Tensor operator()(const at::Tensor& input) const {
    return at::conv2d(input, weight, bias, /*stride=*/1,
                      /*padding=*/weight.size(2) / 2);
  }
};

at::Tensor NormScale(const torch::nn::BatchNorm2d& norm) {
  return norm->weight / (norm->running_var + norm->options.eps()).sqrt();
}

FoldedConv Fold(const torch::nn::Conv2d& conv,
                const torch::nn::BatchNorm2d& norm) {
  const at::Tensor scale = NormScale(norm);
  return {.weight = (conv->weight * scale.view({-1, 1, 1, 1}))
                        .contiguous(at::MemoryFormat::ChannelsLast),
          .bias = norm->bias - norm->running_mean * scale};
}

FoldedConv Fold(const ConvNorm& layer) { return Fold(layer.conv, layer.norm); }

struct Linear {
  at::Tensor weight;
  at::Tensor bias;  // undefined: none

  explicit Linear(const torch::nn::Linear& linear)
      : weight(linear->weight.detach().clone()),
        bias(linear->bias.defined() ? linear->bias.detach().clone()
                                    : at::Tensor()) {}
  at::Tensor operator()(const at::Tensor& input) const {
    return at::linear(input, weight, bias);
  }
};

// The network without what only training needs.
class FoldedNetwork {
 public:
  explicit FoldedNetwork(const Network& network)
      : hills_(MakeHillMask()),
        stem_(Fold(network.stem_conv, network.stem_norm)),
        stem_globals_(network.stem_globals),
        policy_conv_(Fold(*network.policy_conv)),
        policy_pooled_(network.policy_pooled),
        policy_planes_{network.policy_planes->weight.detach().clone(),
                       network.policy_planes->bias.detach().clone()},
        policy_pass_(network.policy_pass),
        value_conv_(Fold(*network.value_conv)),
        value_hidden_(network.value_hidden),
        value_output_(network.value_output) {
    stem_globals_.weight.mul_(NormScale(network.stem_norm).unsqueeze(1));
    for (const auto& block : network.blocks) {
      blocks_.push_back({Fold(*block->first), Fold(*block->second), {}});
      if (block->pooled) blocks_.back().pooled.emplace_back(block->pooled);
    }
  }

  NetworkOutput Forward(const at::Tensor& planes,
                        const at::Tensor& globals) const {
    at::Tensor tower = stem_(planes.contiguous(at::MemoryFormat::ChannelsLast))
                           .add_(OfChannels(stem_globals_(globals)))
                           .relu_();
    for (const Block& block : blocks_) {
      const at::Tensor inner = block.first(tower).relu_();
      at::Tensor sum = block.second(inner).add_(tower);
      for (const Linear& pooled : block.pooled) {
        sum.add_(OfChannels(pooled(PoolHills(inner, hills_))));
      }
      tower = sum.relu_();
    }
    const at::Tensor pooled = PoolHills(tower, hills_);
    const at::Tensor policy =
        policy_conv_(tower).add_(OfChannels(policy_pooled_(pooled))).relu_();
    const at::Tensor value = PoolHills(value_conv_(tower).relu_(), hills_);
    const at::Tensor output = value_output_(value_hidden_(value).relu_());
    return {.policy = at::cat(
                {policy_planes_(policy).flatten(1), policy_pass_(pooled)}, 1),
            .result = output.slice(1, 0, 3).contiguous(),
            .margins = output.slice(1, 3).contiguous()};
  }

 private:
  struct Block {
    FoldedConv first;
    FoldedConv second;
    std::vector<Linear> pooled;  // one, or none
  };

  static at::Tensor OfChannels(const at::Tensor& values) {
    return values.unsqueeze(2).unsqueeze(3);
  }

  at::Tensor hills_;
  FoldedConv stem_;
  Linear stem_globals_;
  std::vector<Block> blocks_;
  FoldedConv policy_conv_;
  Linear policy_pooled_;
  FoldedConv policy_planes_;
  Linear policy_pass_;
  FoldedConv value_conv_;
  Linear value_hidden_;
  Linear value_output_;
};

class TorchEvaluator : public Evaluator {
 public:
  explicit TorchEvaluator(const Network& network) : network_(network) {}

  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<Evaluation> results) override {
    TARA_CHECK(states.size() == results.size(), "one result for each state");
    SetTorchThreads(1);
    try {
      // Equal parts: a small rest would cost more than its share.
      const size_t parts = (states.size() + kMaxBatch - 1) / kMaxBatch;
      size_t begin = 0;
      for (size_t part = 1; part <= parts; ++part) {
        const size_t end = states.size() * part / parts;
        EvaluateBatch(states.subspan(begin, end - begin),
                      results.subspan(begin, end - begin));
        begin = end;
      }
      return absl::OkStatus();
    } catch (const std::exception& error) {
      return absl::InternalError(
          absl::StrCat("LibTorch failed while evaluating ", states.size(),
                       " positions: ", error.what()));
    }
  }

 private:
  void EvaluateBatch(absl::Span<const State> states,
                     absl::Span<Evaluation> results) const {
    thread_local EncodedBatch batch;  // keeps its memory
    batch.EncodeCanonical(states);
    const c10::InferenceMode inference_mode;
    const NetworkOutput output =
        network_.Forward(PlanesOf(batch), GlobalsOf(batch));
    for (int i = 0; i < batch.size(); ++i) {
      FillEvaluation(
          batch, i,
          {.policy = output.policy.data_ptr<float>() + i * kNumPolicyOutputs,
           .result = output.result.data_ptr<float>() + i * 3,
           .margins = output.margins.data_ptr<float>() + i * kNumMargins},
          results[i]);
    }
  }

  const FoldedNetwork network_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Evaluator>> NewTorchEvaluator(
    const Checkpoint& checkpoint) {
  try {
    const c10::InferenceMode inference_mode;
    Network network(checkpoint.shape);
    TARA_RETURN_IF_ERROR(LoadWeights(checkpoint, network));
    return std::make_unique<TorchEvaluator>(network);
  } catch (const std::exception& error) {
    return absl::InternalError(
        absl::StrCat("LibTorch failed while loading: ", error.what()));
  }
}

}  // namespace tara
