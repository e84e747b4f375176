#include "tara/nn/training/optimizer_torch.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tara/base/status_macros.h"
#include "tara/nn/torch/network_torch.h"

namespace tara::nn {
namespace {

class AdamW : public Optimizer {
 public:
  AdamW(const torch::nn::Module& module, float weight_decay)
      : Optimizer(
            module, weight_decay,
            {{.name = "adamw.first_moment"}, {.name = "adamw.second_moment"}}) {
  }

 private:
  static constexpr double kBeta1 = 0.9;
  static constexpr double kBeta2 = 0.999;
  static constexpr double kEpsilon = 1e-8;

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
};

class Sgd : public Optimizer {
 public:
  Sgd(const torch::nn::Module& module, float weight_decay, float momentum)
      : Optimizer(module, weight_decay, {{.name = "sgd.velocity"}}),
        momentum_(momentum) {}

 private:
  void Update(const Active& active, double learning_rate,
              int64_t /*step*/) const override {
    const auto& velocity = active.moments[0];
    at::_foreach_mul_(velocity, momentum_);
    at::_foreach_add_(velocity, active.gradients);
    at::_foreach_add_(active.weights, active.gradients, -learning_rate);
    at::_foreach_add_(active.weights, velocity, -learning_rate * momentum_);
  }

  const double momentum_;
};

std::string StoredName(const std::string& moment, const std::string& weights) {
  return absl::StrCat(moment, ".", weights);
}

}  // namespace

Optimizer::Optimizer(const torch::nn::Module& module, float weight_decay,
                     std::vector<Moment> moments)
    : weight_decay_(weight_decay), moments_(std::move(moments)) {
  for (const auto& parameter : module.named_parameters()) {
    names_.push_back(parameter.key());
    weights_.push_back(parameter.value());
    for (Moment& moment : moments_) {
      moment.of.push_back(at::zeros_like(parameter.value()));
    }
  }
}

void Optimizer::ZeroGradients() {
  for (at::Tensor& weights : weights_) weights.mutable_grad().reset();
}

double Optimizer::GradientNorm() const {
  const torch::NoGradGuard no_gradients;
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& weights : weights_) {
    if (weights.grad().defined()) gradients.push_back(weights.grad());
  }
  if (gradients.empty()) return 0;
  return at::stack(at::_foreach_norm(gradients)).norm().item<double>();
}

void Optimizer::ClipGradients(double norm, double max_norm) {
  const torch::NoGradGuard no_gradients;
  if (norm <= max_norm) return;
  for (at::Tensor& weights : weights_) {
    if (weights.grad().defined()) weights.mutable_grad().mul_(max_norm / norm);
  }
}

void Optimizer::Step(double learning_rate) {
  const torch::NoGradGuard no_gradients;
  ++steps_;
  Active active;
  active.moments.resize(moments_.size());
  std::vector<at::Tensor> decaying;
  for (size_t i = 0; i < weights_.size(); ++i) {
    const at::Tensor& gradient = weights_[i].grad();
    if (!gradient.defined()) continue;
    active.weights.push_back(weights_[i]);
    active.gradients.push_back(gradient);
    for (size_t k = 0; k < moments_.size(); ++k) {
      active.moments[k].push_back(moments_[k].of[i]);
    }
    if (weights_[i].dim() >= 2) decaying.push_back(weights_[i]);
  }
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

std::unique_ptr<Optimizer> NewSgd(const torch::nn::Module& module,
                                  float weight_decay, float momentum) {
  return std::make_unique<Sgd>(module, weight_decay, momentum);
}

}  // namespace tara::nn
