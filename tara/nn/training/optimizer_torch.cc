#include "tara/nn/training/optimizer_torch.h"

#include <ATen/autocast_mode.h>
#include <torch/version.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
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

class AdamW : public Optimizer {
 public:
  // `name`: of the kind of optimizer in checkpoints.
  AdamW(const torch::nn::Module& module, float weight_decay,
        const std::string& name = "adamw")
      : Optimizer(module, weight_decay,
                  {{.name = name + ".first_moment"},
                   {.name = name + ".second_moment"}}) {}

 protected:
  void Update(const Active& active, double learning_rate,
              int64_t step) const override {
    const auto& first = active.moments[0];
    const auto& second = active.moments[1];
    at::_foreach_mul_(first, kBeta1);
    at::_foreach_add_(first, active.gradients, 1 - kBeta1);
    at::_foreach_mul_(second, kBeta2);
    at::_foreach_addcmul_(second, active.gradients, active.gradients,
                          1 - kBeta2);
    const auto t = static_cast<double>(step);
    std::vector<at::Tensor> divisors = at::_foreach_sqrt(second);
    at::_foreach_mul_(divisors, 1 / std::sqrt(1 - std::pow(kBeta2, t)));
    at::_foreach_add_(divisors, kEpsilon);
    at::_foreach_addcdiv_(active.weights, first, divisors,
                          -learning_rate / (1 - std::pow(kBeta1, t)));
  }

 private:
  static constexpr double kBeta1 = 0.9;
  static constexpr double kBeta2 = 0.999;
  static constexpr double kEpsilon = 1e-8;
};

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

class Muon : public AdamW {
 public:
  Muon(const torch::nn::Module& module, float weight_decay)
      : AdamW(module, weight_decay, "muon") {}

 private:
  static constexpr double kMomentum = 0.95;
  // Root mean square of a step, as AdamW's steps have it.
  static constexpr double kSize = 0.2;

  bool is_elementwise() const override { return false; }

  void Update(const Active& active, double learning_rate,
              int64_t step) const override {
    Active others;
    others.moments.resize(active.moments.size());
    // Those of one shape are orthogonalized together.
    std::map<std::vector<int64_t>, std::vector<size_t>> matrices;
    for (size_t i = 0; i < active.weights.size(); ++i) {
      const at::Tensor& weights = active.weights[i];
      if (weights.dim() >= 2 && absl::StartsWith(active.names[i], "block")) {
        matrices[weights.sizes().vec()].push_back(i);
        continue;
      }
      others.weights.push_back(weights);
      others.gradients.push_back(active.gradients[i]);
      for (size_t k = 0; k < active.moments.size(); ++k) {
        others.moments[k].push_back(active.moments[k][i]);
      }
    }
    if (!others.weights.empty()) AdamW::Update(others, learning_rate, step);
    for (const auto& [shape, indices] : matrices) {
      std::vector<at::Tensor> directions;
      for (const size_t i : indices) {
        const at::Tensor& moment = active.moments[0][i];
        moment.lerp_(active.gradients[i], 1 - kMomentum);
        directions.push_back(
            active.gradients[i].lerp(moment, kMomentum).flatten(1));
      }
      const at::Tensor steps = Orthogonalized(at::stack(directions));
      const auto longest =
          static_cast<double>(std::max(steps.size(1), steps.size(2)));
      for (size_t k = 0; k < indices.size(); ++k) {
        active.weights[indices[k]].add_(
            steps[static_cast<int64_t>(k)].reshape(shape),
            -learning_rate * kSize * std::sqrt(longest));
      }
    }
  }
};

std::string StoredName(const std::string& moment, const std::string& weights) {
  return absl::StrCat(moment, ".", weights);
}

}  // namespace

Optimizer::Optimizer(const torch::nn::Module& module, float weight_decay,
                     std::vector<Moment> moments)
    : weight_decay_(weight_decay), moments_(std::move(moments)) {
  for (const auto& parameter : module.named_parameters()) {
    order_.push_back(names_.size());
    names_.push_back(parameter.key());
    weights_.push_back(parameter.value());
    for (Moment& moment : moments_) {
      moment.of.push_back(at::zeros_like(parameter.value()));
    }
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
  for (const Moment& moment : moments_) {
    blocks.moments.push_back(MoveToBlock(in_order(moment.of)));
  }
  std::vector<std::string> names;
  for (const size_t i : order_) names.push_back(names_[i]);
  return names;
}

std::vector<at::Tensor> Optimizer::blocks() const {
  std::vector<at::Tensor> blocks = blocks_->moments;
  blocks.push_back(blocks_->weights);
  return blocks;
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

Optimizer::Active Optimizer::Collect(std::vector<at::Tensor>& decaying) const {
  Active active;
  active.moments.resize(moments_.size());
  if (blocks_ && is_elementwise()) {
    active.weights = {blocks_->weights};
    active.gradients = {blocks_->gradients};
    for (size_t k = 0; k < moments_.size(); ++k) {
      active.moments[k] = {blocks_->moments[k]};
    }
    decaying = {blocks_->weights.narrow(0, 0, blocks_->decaying)};
    return active;
  }
  int64_t offset = 0;
  for (const size_t i : order_) {
    const at::Tensor& weights = weights_[i];
    const at::Tensor gradient =
        blocks_ ? blocks_->gradients.as_strided(weights.sizes(),
                                                weights.strides(), offset)
                : weights.grad();
    offset += weights.numel();
    if (!gradient.defined()) continue;
    active.names.push_back(names_[i]);
    active.weights.push_back(weights);
    active.gradients.push_back(gradient);
    for (size_t k = 0; k < moments_.size(); ++k) {
      active.moments[k].push_back(moments_[k].of[i]);
    }
    if (weights.dim() >= 2) decaying.push_back(weights);
  }
  return active;
}

void Optimizer::Step(double learning_rate) {
  const torch::NoGradGuard no_gradients;
  ++steps_;
  std::vector<at::Tensor> decaying;
  const Active active = Collect(decaying);
  if (active.weights.empty()) return;
  if (!decaying.empty()) {
    at::_foreach_mul_(decaying, 1 - learning_rate * weight_decay_);
  }
  Update(active, learning_rate, steps_);
}

void Optimizer::Save(Checkpoint& checkpoint) const {
  checkpoint.optimizer_steps = steps_;
  for (size_t i = 0; i < weights_.size(); ++i) {
    for (const Moment& moment : moments_) {
      checkpoint.tensors.push_back(
          ToNamedTensor(StoredName(moment.name, names_[i]), moment.of[i]));
    }
  }
}

absl::Status Optimizer::Load(const Checkpoint& checkpoint) {
  if (!checkpoint.HasPrefix(moments_[0].name)) return absl::OkStatus();
  steps_ = checkpoint.optimizer_steps;
  for (size_t i = 0; i < weights_.size(); ++i) {
    if (!checkpoint.Has(names_[i])) continue;  // new: not learned yet
    for (Moment& moment : moments_) {
      TARA_RETURN_IF_ERROR(FromCheckpoint(
          checkpoint, StoredName(moment.name, names_[i]), moment.of[i]));
    }
  }
  return absl::OkStatus();
}

std::unique_ptr<Optimizer> NewAdamW(const torch::nn::Module& module,
                                    float weight_decay) {
  return std::make_unique<AdamW>(module, weight_decay);
}

std::unique_ptr<Optimizer> NewMuon(const torch::nn::Module& module,
                                   float weight_decay) {
  return std::make_unique<Muon>(module, weight_decay);
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
