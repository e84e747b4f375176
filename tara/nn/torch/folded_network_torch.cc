#include "tara/nn/torch/folded_network_torch.h"

namespace tara::nn {
namespace {

at::Tensor NormScale(const torch::nn::BatchNorm2d& norm) {
  return norm->weight / (norm->running_var + norm->options.eps()).sqrt();
}

}  // namespace

at::Tensor FoldedNetwork::Conv::operator()(const at::Tensor& input) const {
  return at::conv2d(input, weight, bias, /*stride=*/1,
                    /*padding=*/weight.size(2) / 2);
}

at::Tensor FoldedNetwork::Linear::operator()(const at::Tensor& input) const {
  return at::linear(input, weight, bias);
}

FoldedNetwork::Conv FoldedNetwork::MakeConv(const at::Tensor& weight,
                                            const at::Tensor& bias) const {
  return {.weight = weight.detach()
                        .to(device_, type_, /*non_blocking=*/false,
                            /*copy=*/true)
                        .contiguous(at::MemoryFormat::ChannelsLast),
          .bias = bias.detach().to(device_, type_, /*non_blocking=*/false,
                                   /*copy=*/true)};
}

FoldedNetwork::Conv FoldedNetwork::Fold(
    const torch::nn::Conv2d& conv, const torch::nn::BatchNorm2d& norm) const {
  const at::Tensor scale = NormScale(norm);
  return MakeConv(conv->weight * scale.view({-1, 1, 1, 1}),
                  norm->bias - norm->running_mean * scale);
}

FoldedNetwork::Linear FoldedNetwork::MakeLinear(const torch::nn::Linear& linear,
                                                at::ScalarType type) const {
  const auto moved = [&](const at::Tensor& tensor) {
    return tensor.detach().to(device_, type, /*non_blocking=*/false,
                              /*copy=*/true);
  };
  return {.weight = moved(linear->weight),
          .bias = linear->bias.defined() ? moved(linear->bias) : at::Tensor()};
}

FoldedNetwork::FoldedNetwork(const Network& network, const c10::Device& device,
                             at::ScalarType type)
    : device_(device),
      type_(type),
      hills_(MakeHillMask().to(device, type)),
      stem_(Fold(network.stem_conv, network.stem_norm)),
      stem_globals_(MakeLinear(network.stem_globals, type)),
      policy_conv_(Fold(network.policy_conv->conv, network.policy_conv->norm)),
      policy_pooled_(MakeLinear(network.policy_pooled, type)),
      policy_planes_(
          MakeConv(network.policy_planes->weight, network.policy_planes->bias)),
      policy_pass_(MakeLinear(network.policy_pass, type)),
      value_conv_(Fold(network.value_conv->conv, network.value_conv->norm)),
      value_hidden_(MakeLinear(network.value_hidden, at::kFloat)),
      value_output_(MakeLinear(network.value_output, at::kFloat)) {
  stem_globals_.weight =
      (network.stem_globals->weight * NormScale(network.stem_norm).unsqueeze(1))
          .detach()
          .to(device, type);
  for (const auto& block : network.blocks) {
    blocks_.push_back({Fold(block->first->conv, block->first->norm),
                       Fold(block->second->conv, block->second->norm),
                       {}});
    if (block->pooled) {
      blocks_.back().pooled.push_back(MakeLinear(block->pooled, type));
    }
  }
}

at::Tensor FoldedNetwork::Forward(const at::Tensor& planes,
                                  const at::Tensor& globals) const {
  at::Tensor tower = stem_(planes.to(type_))
                         .add_(OfChannels(stem_globals_(globals.to(type_))))
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
  const at::Tensor value =
      PoolHills(value_conv_(tower).relu_(), hills_).to(at::kFloat);
  return at::cat({policy_planes_(policy).flatten(1).to(at::kFloat),
                  policy_pass_(pooled).to(at::kFloat),
                  value_output_(value_hidden_(value).relu_())},
                 1);
}

}  // namespace tara::nn
