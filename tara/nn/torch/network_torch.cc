#include "tara/nn/torch/network_torch.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tara/base/check.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/nn/encode/features.h"

namespace tara::nn {
namespace {

torch::nn::Conv2d MakeConv(int in_channels, int out_channels, int kernel_size,
                           bool bias) {
  return torch::nn::Conv2d(
      torch::nn::Conv2dOptions(in_channels, out_channels, kernel_size)
          .padding(kernel_size / 2)
          .bias(bias));
}

torch::nn::Linear MakeLinear(int in, int out, bool bias = true) {
  return torch::nn::Linear(torch::nn::LinearOptions(in, out).bias(bias));
}

}  // namespace

at::Tensor OfChannels(const at::Tensor& values) {
  return values.unsqueeze(2).unsqueeze(3);
}

at::Tensor PoolHills(const at::Tensor& values, const at::Tensor& hills) {
  const at::Tensor masked = values * hills;
  return at::cat({masked.sum({2, 3}) * (1.0 / kNumHills), masked.amax({2, 3})},
                 1);
}

at::Tensor PlanesOf(const EncodedBatch& batch) {
  constexpr int64_t kChannels = kNumPlanes;
  return at::from_blob(
      batch.planes(), {batch.size(), kChannels, kBoardSize, kBoardSize},
      {kChannels * kNumSquares, 1, kChannels * kBoardSize, kChannels});
}

at::Tensor GlobalsOf(const EncodedBatch& batch) {
  return at::from_blob(batch.globals(), {batch.size(), kNumGlobals});
}

at::Tensor MakeHillMask() {
  at::Tensor mask = at::zeros({1, 1, kBoardSize, kBoardSize});
  ForEachHill(kAllHills, [&](Hill hill) {
    mask.data_ptr<float>()[SquareOf(hill)] = 1.0f;
  });
  return mask;
}

ConvNorm::ConvNorm(int in_channels, int out_channels, int kernel_size)
    : conv(register_module(
          "conv", MakeConv(in_channels, out_channels, kernel_size, false))),
      norm(register_module("norm", torch::nn::BatchNorm2d(out_channels))) {}

at::Tensor ConvNorm::forward(const at::Tensor& input,
                             const at::Tensor& residual,
                             const at::Tensor& bias) {
  at::Tensor sum = norm(conv(input));
  if (residual.defined()) sum = sum + residual;
  if (bias.defined()) sum = sum + OfChannels(bias);
  return at::relu(sum);
}

ResidualBlock::ResidualBlock(int channels, bool pools)
    : first(register_module("first",
                            std::make_shared<ConvNorm>(channels, channels, 3))),
      second(register_module(
          "second", std::make_shared<ConvNorm>(channels, channels, 3))) {
  if (pools) {
    pooled = register_module("pooled", MakeLinear(2 * channels, channels));
  }
}

at::Tensor ResidualBlock::forward(const at::Tensor& input,
                                  const at::Tensor& hills) {
  const at::Tensor inner = first->forward(input);
  return second->forward(
      inner, input, pooled ? pooled(PoolHills(inner, hills)) : at::Tensor());
}

Network::Network(const NetworkShape& network_shape)
    : shape(network_shape), hills_(MakeHillMask()) {
  const int c = shape.channels;
  const auto add = [this](const std::string& name, auto module) {
    return register_module(name, std::move(module));
  };
  stem_conv = add("stem_conv", MakeConv(kNumPlanes, c, 3, false));
  stem_globals = add("stem_globals", MakeLinear(kNumGlobals, c, false));
  stem_norm = add("stem_norm", torch::nn::BatchNorm2d(c));
  policy_conv = add("policy_conv", std::make_shared<ConvNorm>(c, c, 1));
  policy_pooled = add("policy_pooled", MakeLinear(2 * c, c, false));
  policy_planes = add("policy_planes", MakeConv(c, kNumPolicyPlanes, 1, true));
  policy_pass = add("policy_pass", MakeLinear(2 * c, 1));
  value_conv = add("value_conv", std::make_shared<ConvNorm>(c, c, 1));
  value_hidden = add("value_hidden", MakeLinear(2 * c, kValueHidden));
  value_output =
      add("value_output", MakeLinear(kValueHidden, kNumValueOutputs));
  for (int i = 0; i < shape.blocks; ++i) {
    blocks.push_back(add(absl::StrCat("block", i),
                         std::make_shared<ResidualBlock>(c, BlockPools(i))));
  }
  owner_planes = add("owner_planes", MakeConv(c, kNumOwners, 1, true));
  kingdoms_output =
      add("kingdoms_output", MakeLinear(kValueHidden, 2 * kNumKingdomCounts));
  reply_planes = add("reply_planes", MakeConv(c, kNumPolicyPlanes, 1, true));
  reply_pass = add("reply_pass", MakeLinear(2 * c, 1));
}

void Network::MoveTo(const c10::Device& device) {
  to(device);
  hills_ = hills_.to(device);
}

NetworkOutput Network::forward(const at::Tensor& planes,
                               const at::Tensor& globals,
                               const PerHead<bool>& asked) {
  at::Tensor tower = at::relu(
      stem_norm(stem_conv(planes) + OfChannels(stem_globals(globals))));
  for (const auto& block : blocks) tower = block->forward(tower, hills_);

  const at::Tensor pooled = PoolHills(tower, hills_);
  const at::Tensor policy =
      policy_conv->forward(tower, {}, policy_pooled(pooled));
  const at::Tensor value = value_conv->forward(tower);
  const at::Tensor hidden = at::relu(value_hidden(PoolHills(value, hills_)));
  const at::Tensor values = value_output(hidden);
  NetworkOutput output;
  output[Head::kPolicy] =
      at::cat({policy_planes(policy).flatten(1), policy_pass(pooled)}, 1);
  output[Head::kValue] = values.slice(1, 0, kNumResults);
  output[Head::kMargin] = values.slice(1, kNumResults);
  if (asked[Head::kOwner]) output[Head::kOwner] = owner_planes(value);
  if (asked[Head::kKingdoms]) {
    output[Head::kKingdoms] =
        kingdoms_output(hidden).view({-1, 2, kNumKingdomCounts});
  }
  if (asked[Head::kReply]) {
    output[Head::kReply] =
        at::cat({reply_planes(policy).flatten(1), reply_pass(pooled)}, 1);
  }
  return output;
}

NetworkOutput ToFloat32(const NetworkOutput& output) {
  NetworkOutput converted = output;
  for (const HeadInfo& info : kHeads) {
    at::Tensor& logits = converted[info.head];
    if (logits.defined()) logits = logits.to(at::kFloat);
  }
  return converted;
}

void InitializeWeights(uint64_t seed, Network& network) {
  const torch::NoGradGuard no_gradients;
  Random random(DeriveSeed(seed, 0, StreamPurpose::kInitialWeights));
  for (auto& parameter : network.named_parameters()) {
    const std::string& name = parameter.key();
    at::Tensor& weights = parameter.value();
    if (weights.dim() < 2) continue;  // biases: zero; norms: one and zero
    const bool last = absl::StartsWith(name, "policy_planes") ||
                      absl::StartsWith(name, "policy_pass") ||
                      absl::StartsWith(name, "value_output") ||
                      AuxiliaryHeadOf(name) != nullptr;
    const double fan_in = static_cast<double>(weights.numel()) /
                          static_cast<double>(weights.size(0));
    const double deviation = std::sqrt((last ? 0.1 : 2.0) / fan_in);
    float* const values = weights.data_ptr<float>();
    for (int64_t i = 0; i < weights.numel(); ++i) {
      values[i] = static_cast<float>(deviation * random.Normal());
    }
  }
  for (auto& parameter : network.named_parameters()) {
    if (absl::EndsWith(parameter.key(), "bias")) parameter.value().zero_();
  }
  float* const margins =
      network.value_output->bias.data_ptr<float>() + kNumResults;
  for (int margin = -kMaxMargin; margin <= kMaxMargin; ++margin) {
    margins[margin + kMaxMargin] =
        -static_cast<float>(std::abs(margin)) / kInitialMarginSpread;
  }
}

std::vector<std::pair<std::string, at::Tensor>> NetworkTensors(
    const Network& network) {
  std::vector<std::pair<std::string, at::Tensor>> tensors;
  for (const auto& parameter : network.named_parameters()) {
    tensors.emplace_back(parameter.key(), parameter.value());
  }
  for (const auto& buffer : network.named_buffers()) {
    // The count of batches seen matters only to norms without a momentum.
    if (absl::EndsWith(buffer.key(), "num_batches_tracked")) continue;
    tensors.emplace_back(buffer.key(), buffer.value());
  }
  return tensors;
}

NamedTensor ToNamedTensor(const std::string& name, const at::Tensor& tensor) {
  const at::Tensor values = tensor.detach().to(at::kCPU).contiguous();
  const float* const begin = values.data_ptr<float>();
  return {.name = name,
          .shape = values.sizes().vec(),
          .values = std::vector<float>(begin, begin + values.numel())};
}

absl::Status FromCheckpoint(const Checkpoint& checkpoint,
                            const std::string& name, at::Tensor& tensor) {
  const torch::NoGradGuard no_gradients;
  TARA_ASSIGN_OR_RETURN(const NamedTensor* const stored,
                        checkpoint.Find(name, tensor.sizes().vec()));
  at::Tensor values = at::empty(tensor.sizes(), at::kFloat);
  std::copy(stored->values.begin(), stored->values.end(),
            values.data_ptr<float>());
  tensor.copy_(values);
  return absl::OkStatus();
}

absl::Status LoadWeights(const Checkpoint& checkpoint, Network& network,
                         absl::string_view prefix) {
  for (auto& [name, tensor] : NetworkTensors(network)) {
    const std::string stored = absl::StrCat(prefix, name);
    if (AuxiliaryHeadOf(name) != nullptr && !checkpoint.Has(stored)) continue;
    TARA_RETURN_IF_ERROR(FromCheckpoint(checkpoint, stored, tensor));
  }
  return absl::OkStatus();
}

FoldedNetwork::FoldedNetwork(const Checkpoint& folded,
                             const c10::Device& device, at::ScalarType type)
    : type_(type), hills_(MakeHillMask().to(device, type)) {
  const auto tensor = [&](const std::string& name, at::ScalarType as) {
    const NamedTensor* const found = folded.Find(name);
    TARA_CHECK(found != nullptr, "a tensor of a folded network is missing");
    const at::Tensor values =
        at::from_blob(const_cast<float*>(found->values.data()), found->shape)
            .to(device, as, /*non_blocking=*/false, /*copy=*/true);
    return values.dim() == 4 ? values.contiguous(at::MemoryFormat::ChannelsLast)
                             : values;
  };
  const auto layer = [&](const std::string& name, const std::string& bias,
                         at::ScalarType as) {
    return Layer{tensor(name + ".weight", as),
                 bias.empty() ? at::Tensor() : tensor(bias + ".bias", as)};
  };
  const auto with_norm = [&](const std::string& name) {
    return layer(name + ".conv", name + ".norm", type);
  };
  const auto with_bias = [&](const std::string& name) {
    return layer(name, name, type);
  };
  stem_ = layer("stem_conv", "stem_norm", type);
  stem_globals_ = layer("stem_globals", "", type);
  for (int i = 0; i < folded.shape.blocks; ++i) {
    const std::string name = absl::StrCat("block", i);
    blocks_.push_back({with_norm(name + ".first"), with_norm(name + ".second"),
                       BlockPools(i) ? with_bias(name + ".pooled") : Layer()});
  }
  policy_conv_ = with_norm("policy_conv");
  policy_pooled_ = layer("policy_pooled", "", type);
  policy_planes_ = with_bias("policy_planes");
  policy_pass_ = with_bias("policy_pass");
  value_conv_ = with_norm("value_conv");
  value_hidden_ = layer("value_hidden", "value_hidden", at::kFloat);
  value_output_ = layer("value_output", "value_output", at::kFloat);
}

at::Tensor FoldedNetwork::Layer::operator()(const at::Tensor& input) const {
  return weight.dim() == 2 ? at::linear(input, weight, bias)
                           : at::conv2d(input, weight, bias, /*stride=*/1,
                                        /*padding=*/weight.size(2) / 2);
}

at::Tensor FoldedNetwork::Forward(const at::Tensor& planes,
                                  const at::Tensor& globals) const {
  at::Tensor tower = stem_(planes.to(type_))
                         .add_(OfChannels(stem_globals_(globals.to(type_))))
                         .relu_();
  for (const Block& block : blocks_) {
    const at::Tensor inner = block.first(tower).relu_();
    at::Tensor sum = block.second(inner).add_(tower);
    if (block.pooled.weight.defined()) {
      sum.add_(OfChannels(block.pooled(PoolHills(inner, hills_))));
    }
    tower = sum.relu_();
  }
  const at::Tensor pooled = PoolHills(tower, hills_);
  const at::Tensor policy =
      policy_conv_(tower).add_(OfChannels(policy_pooled_(pooled))).relu_();
  const at::Tensor value =
      PoolHills(value_conv_(tower).relu_(), hills_).to(at::kFloat);
  return at::cat({policy_planes_(policy).flatten(1).to(at::kFloat),
                  policy_pass_(pooled).to(at::kFloat),
                  value_output_(value_hidden_(value).relu_())},
                 1);
}

}  // namespace tara::nn
