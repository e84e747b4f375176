#include "tara/nn/training/optimizer_torch.h"

#include <ATen/autocast_mode.h>
#include <torch/version.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "tara/base/status_macros.h"
#include "tara/nn/torch/network_torch.h"

// LibTorch 2.4 has one function for all devices, and warns of the others.
#if TORCH_VERSION_MAJOR > 2 || \
    (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
#define TARA_AUTOCAST_BY_DEVICE 1
#else
#define TARA_AUTOCAST_BY_DEVICE 0
#endif

namespace tara::nn {
namespace {

void Set(c10::DeviceType device, bool enabled) {
#if TARA_AUTOCAST_BY_DEVICE
  at::autocast::set_autocast_dtype(device, at::kBFloat16);
  at::autocast::set_autocast_enabled(device, enabled);
#else
  if (device == c10::DeviceType::CPU) {
    at::autocast::set_autocast_cpu_dtype(at::kBFloat16);
    at::autocast::set_cpu_enabled(enabled);
  } else {
    at::autocast::set_autocast_gpu_dtype(at::kBFloat16);
    at::autocast::set_enabled(enabled);
  }
#endif
}

}  // namespace

Autocast::Autocast(c10::DeviceType device, bool enabled)
    : device_(device), enabled_(enabled) {
  if (!enabled_) return;
  at::autocast::increment_nesting();
  Set(device_, true);
}

Autocast::~Autocast() {
  if (!enabled_) return;
  Set(device_, false);
  // Weights in bfloat16 are kept for as long as it lives, not over a step.
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
}

at::Tensor MoveToBlock(std::vector<at::Tensor> tensors) {
  const torch::NoGradGuard no_gradients;
  int64_t size = 0;
  for (const at::Tensor& tensor : tensors) size += tensor.numel();
  const at::Tensor& first = tensors.front();
  const at::Tensor block = at::empty(
      {size}, at::TensorOptions(first.scalar_type()).device(first.device()));
  int64_t offset = 0;
  for (at::Tensor& tensor : tensors) {
    const at::Tensor place =
        block.as_strided(tensor.sizes(), tensor.strides(), offset);
    place.copy_(tensor);
    tensor.set_data(place);
    offset += tensor.numel();
  }
  return block;
}

Snapshot::Snapshot(std::vector<at::Tensor> tensors)
    : tensors_(std::move(tensors)) {
  for (const at::Tensor& tensor : tensors_) {
    copies_.push_back(tensor.detach().clone());
  }
}

void Snapshot::Keep() {
  const torch::NoGradGuard no_gradients;
  for (size_t i = 0; i < tensors_.size(); ++i) copies_[i].copy_(tensors_[i]);
}

void Snapshot::Restore() {
  const torch::NoGradGuard no_gradients;
  for (size_t i = 0; i < tensors_.size(); ++i) tensors_[i].copy_(copies_[i]);
}

void Snapshot::RestoreUnless(const at::Tensor& good) {
  const torch::NoGradGuard no_gradients;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    tensors_[i].copy_(at::where(good, tensors_[i], copies_[i]));
  }
}

namespace {

// Returns about U V^T of U S V^T, each of [n, r, c]: singular values from 0.7
// to 1.2.
at::Tensor Orthogonalized(const at::Tensor& matrices) {
  // Coefficients of a quintic whose iteration quickly brings numbers from 0 to
  // 1 near 1.
  constexpr double kA = 3.4445;
  constexpr double kB = -4.7750;
  constexpr double kC = 2.0315;
  constexpr int kIterations = 5;
  const bool is_tall = matrices.size(1) > matrices.size(2);
  at::Tensor x = is_tall ? matrices.transpose(1, 2) : matrices;
  x = x / (x.norm(2, {1, 2}, /*keepdim=*/true) + 1e-7);
  for (int i = 0; i < kIterations; ++i) {
    const at::Tensor square = at::bmm(x, x.transpose(1, 2));
    const at::Tensor factors =
        at::baddbmm(square, square, square, /*beta=*/kB, /*alpha=*/kC);
    x = at::baddbmm(x, factors, x, /*beta=*/kA);
  }
  return is_tall ? x.transpose(1, 2) : x;
}

std::string Prefix(OptimizerKind kind) {
  return kind == OptimizerKind::kMuon ? "muon." : "adamw.";
}

}  // namespace

Optimizer::Optimizer(OptimizerKind kind, float weight_decay,
                     const torch::nn::Module& module)
    : kind_(kind),
      weight_decay_(weight_decay),
      first_name_(Prefix(kind) + "first_moment."),
      second_name_(Prefix(kind) + "second_moment.") {
  for (const auto& parameter : module.named_parameters()) {
    order_.push_back(names_.size());
    names_.push_back(parameter.key());
    weights_.push_back(parameter.value());
    first_.push_back(at::zeros_like(parameter.value()));
    second_.push_back(at::zeros_like(parameter.value()));
  }
}

std::vector<std::string> Optimizer::UseBlocks(
    const std::function<bool(const std::string&)>& has_gradient) {
  Blocks& blocks = blocks_.emplace();
  order_.clear();
  for (const bool decays : {true, false}) {
    for (size_t i = 0; i < weights_.size(); ++i) {
      if (!has_gradient(names_[i]) || (weights_[i].dim() >= 2) != decays) {
        continue;
      }
      order_.push_back(i);
      if (decays) blocks.decaying += weights_[i].numel();
    }
  }
  const auto in_order = [&](const std::vector<at::Tensor>& tensors) {
    std::vector<at::Tensor> ordered;
    for (const size_t i : order_) ordered.push_back(tensors[i]);
    return ordered;
  };
  blocks.weights = MoveToBlock(in_order(weights_));
  blocks.first = MoveToBlock(in_order(first_));
  blocks.second = MoveToBlock(in_order(second_));
  std::vector<std::string> names;
  for (const size_t i : order_) names.push_back(names_[i]);
  return names;
}

void Optimizer::ZeroGradients() {
  for (at::Tensor& weights : weights_) weights.mutable_grad().reset();
  if (blocks_) blocks_->gradients.reset();
}

void Optimizer::GatherGradients() {
  if (!blocks_) return;
  const torch::NoGradGuard no_gradients;
  std::vector<at::Tensor> parts;
  for (const size_t i : order_) {
    const at::Tensor& weights = weights_[i];
    at::Tensor gradient = weights.grad();
    // In the layout of the weights, without gaps.
    if (gradient.strides() != weights.strides()) {
      gradient = at::empty_like(weights).copy_(gradient);
    }
    parts.push_back(gradient.as_strided({gradient.numel()}, {1}));
  }
  blocks_->gradients = at::cat(parts);
}

at::Tensor Optimizer::GradientNorm() const {
  const torch::NoGradGuard no_gradients;
  if (blocks_) return blocks_->gradients.norm();
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& weights : weights_) {
    if (weights.grad().defined()) gradients.push_back(weights.grad());
  }
  if (gradients.empty()) return at::zeros({});
  return at::stack(at::_foreach_norm(gradients)).norm();
}

void Optimizer::ClipGradients(double norm, double max_norm) {
  const torch::NoGradGuard no_gradients;
  if (norm <= max_norm) return;
  for (at::Tensor& weights : weights_) {
    if (weights.grad().defined()) weights.mutable_grad().mul_(max_norm / norm);
  }
}

void Optimizer::ClipGradients(const at::Tensor& norm, double max_norm) {
  const torch::NoGradGuard no_gradients;
  blocks_->gradients.mul_((max_norm / norm).clamp_max(1));
}

void Optimizer::Step(double learning_rate) {
  const torch::NoGradGuard no_gradients;
  ++steps_;
  Tensors by_adamw;
  std::map<std::vector<int64_t>, Tensors> by_muon;  // by shape
  std::vector<at::Tensor> decaying;
  if (blocks_ && kind_ == OptimizerKind::kAdamW) {
    // Each number by itself, wherever it lies.
    by_adamw = {{blocks_->weights},
                {blocks_->gradients},
                {blocks_->first},
                {blocks_->second}};
    decaying = {blocks_->weights.narrow(0, 0, blocks_->decaying)};
  } else {
    int64_t offset = 0;
    for (const size_t i : order_) {
      const at::Tensor& weights = weights_[i];
      const at::Tensor gradient =
          blocks_ ? blocks_->gradients.as_strided(weights.sizes(),
                                                  weights.strides(), offset)
                  : weights.grad();
      offset += weights.numel();
      if (!gradient.defined()) continue;
      if (weights.dim() >= 2) decaying.push_back(weights);
      const bool is_muons = kind_ == OptimizerKind::kMuon &&
                            weights.dim() >= 2 &&
                            absl::StartsWith(names_[i], "block");
      Tensors& tensors = is_muons ? by_muon[weights.sizes().vec()] : by_adamw;
      tensors.weights.push_back(weights);
      tensors.gradients.push_back(gradient);
      tensors.first.push_back(first_[i]);
      tensors.second.push_back(second_[i]);
    }
  }
  if (!decaying.empty()) {
    at::_foreach_mul_(decaying, 1 - learning_rate * weight_decay_);
  }
  if (!by_adamw.weights.empty()) StepByAdamW(by_adamw, learning_rate);
  for (const auto& [shape, matrices] : by_muon) {
    StepByMuon(matrices, learning_rate);
  }
}

void Optimizer::StepByAdamW(const Tensors& tensors,
                            double learning_rate) const {
  constexpr double kBeta1 = 0.9;
  constexpr double kBeta2 = 0.999;
  constexpr double kEpsilon = 1e-8;
  const auto& [weights, gradients, first, second] = tensors;
  at::_foreach_mul_(first, kBeta1);
  at::_foreach_add_(first, gradients, 1 - kBeta1);
  at::_foreach_mul_(second, kBeta2);
  at::_foreach_addcmul_(second, gradients, gradients, 1 - kBeta2);
  const auto t = static_cast<double>(steps_);
  std::vector<at::Tensor> divisors = at::_foreach_sqrt(second);
  at::_foreach_mul_(divisors, 1 / std::sqrt(1 - std::pow(kBeta2, t)));
  at::_foreach_add_(divisors, kEpsilon);
  at::_foreach_addcdiv_(weights, first, divisors,
                        -learning_rate / (1 - std::pow(kBeta1, t)));
}

void Optimizer::StepByMuon(const Tensors& matrices,
                           double learning_rate) const {
  constexpr double kMomentum = 0.95;
  // Root mean square of a step, as AdamW's steps have it.
  constexpr double kSize = 0.2;
  std::vector<at::Tensor> directions;
  for (size_t i = 0; i < matrices.weights.size(); ++i) {
    const at::Tensor& gradient = matrices.gradients[i];
    const at::Tensor& moment = matrices.first[i];
    moment.lerp_(gradient, 1 - kMomentum);
    directions.push_back(gradient.lerp(moment, kMomentum).flatten(1));
  }
  const at::Tensor steps = Orthogonalized(at::stack(directions));
  const auto longest =
      static_cast<double>(std::max(steps.size(1), steps.size(2)));
  for (size_t i = 0; i < matrices.weights.size(); ++i) {
    const at::Tensor& weights = matrices.weights[i];
    weights.add_(steps[static_cast<int64_t>(i)].reshape(weights.sizes()),
                 -learning_rate * kSize * std::sqrt(longest));
  }
}

void Optimizer::Save(Checkpoint& checkpoint) const {
  checkpoint.optimizer_steps = steps_;
  for (size_t i = 0; i < weights_.size(); ++i) {
    checkpoint.tensors.push_back(
        ToNamedTensor(first_name_ + names_[i], first_[i]));
    checkpoint.tensors.push_back(
        ToNamedTensor(second_name_ + names_[i], second_[i]));
  }
}

absl::Status Optimizer::Load(const Checkpoint& checkpoint) {
  if (!checkpoint.HasPrefix(first_name_)) return absl::OkStatus();
  steps_ = checkpoint.optimizer_steps;
  for (size_t i = 0; i < weights_.size(); ++i) {
    if (!checkpoint.Has(names_[i])) continue;  // new: not learned yet
    TARA_RETURN_IF_ERROR(
        FromCheckpoint(checkpoint, first_name_ + names_[i], first_[i]));
    TARA_RETURN_IF_ERROR(
        FromCheckpoint(checkpoint, second_name_ + names_[i], second_[i]));
  }
  return absl::OkStatus();
}

WeightAverage::WeightAverage(const Network& network, double decay)
    : decay_(decay), average_(std::make_shared<Network>(network.shape)) {
  average_->MoveTo(network.value_output->weight.device());
  for (const auto& [name, tensor] : NetworkTensors(network)) {
    weights_.push_back(tensor);
  }
  for (const auto& [name, tensor] : NetworkTensors(*average_)) {
    averages_.push_back(tensor);
  }
  Reset();
}

void WeightAverage::UseBlocks(
    const std::vector<at::Tensor>& blocks,
    const std::vector<std::vector<std::string>>& names) {
  std::map<std::string, at::Tensor> tensors;
  for (const auto& [name, tensor] : NetworkTensors(*average_)) {
    tensors[name] = tensor;
  }
  weights_ = blocks;
  averages_.clear();
  for (const std::vector<std::string>& of_block : names) {
    std::vector<at::Tensor> ordered;
    for (const std::string& name : of_block)
      ordered.push_back(tensors.at(name));
    averages_.push_back(MoveToBlock(ordered));
  }
}

void WeightAverage::Reset() {
  const torch::NoGradGuard no_gradients;
  for (size_t i = 0; i < weights_.size(); ++i) averages_[i].copy_(weights_[i]);
}

void WeightAverage::Update(int64_t step) {
  const torch::NoGradGuard no_gradients;
  const double decay = Decay(decay_, step);
  at::_foreach_mul_(averages_, decay);
  at::_foreach_add_(averages_, weights_, 1 - decay);
}

}  // namespace tara::nn
