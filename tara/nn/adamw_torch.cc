#include "tara/nn/adamw_torch.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "tara/base/status_macros.h"
#include "tara/nn/network_torch.h"

namespace tara {
namespace {

constexpr double kBeta1 = 0.9;
constexpr double kBeta2 = 0.999;
constexpr double kEpsilon = 1e-8;

std::string FirstMomentName(const std::string& weights) {
  return absl::StrCat("adamw.first_moment.", weights);
}
std::string SecondMomentName(const std::string& weights) {
  return absl::StrCat("adamw.second_moment.", weights);
}

}  // namespace

AdamW::AdamW(const torch::nn::Module& module, float weight_decay)
    : weight_decay_(weight_decay) {
  for (const auto& parameter : module.named_parameters()) {
    slots_.push_back({.name = parameter.key(),
                      .weights = parameter.value(),
                      .first_moment = at::zeros_like(parameter.value()),
                      .second_moment = at::zeros_like(parameter.value())});
  }
}

double AdamW::ClipGradients(double max_norm) {
  const torch::NoGradGuard no_gradients;
  double squares = 0;
  for (const Slot& slot : slots_) {
    const double norm = slot.weights.grad().norm().item<double>();
    squares += norm * norm;
  }
  const double norm = std::sqrt(squares);
  if (norm > max_norm) {
    for (Slot& slot : slots_) slot.weights.mutable_grad().mul_(max_norm / norm);
  }
  return norm;
}

void AdamW::ZeroGradients() {
  for (Slot& slot : slots_) {
    if (slot.weights.grad().defined()) slot.weights.mutable_grad().zero_();
  }
}

void AdamW::Step(double learning_rate) {
  const torch::NoGradGuard no_gradients;
  ++steps_;
  const double correction1 = 1 - std::pow(kBeta1, steps_);
  const double correction2 = 1 - std::pow(kBeta2, steps_);
  for (Slot& slot : slots_) {
    const at::Tensor gradient = slot.weights.grad();
    slot.first_moment.mul_(kBeta1).add_(gradient, 1 - kBeta1);
    slot.second_moment.mul_(kBeta2).addcmul_(gradient, gradient, 1 - kBeta2);
    if (slot.weights.dim() >= 2) {
      slot.weights.mul_(1 - learning_rate * weight_decay_);
    }
    const at::Tensor divisor = slot.second_moment.sqrt()
                                   .mul_(1 / std::sqrt(correction2))
                                   .add_(kEpsilon);
    slot.weights.addcdiv_(slot.first_moment, divisor,
                          -learning_rate / correction1);
  }
}

void AdamW::Save(Checkpoint& checkpoint) const {
  checkpoint.optimizer_steps = steps_;
  for (const Slot& slot : slots_) {
    checkpoint.tensors.push_back(
        ToNamedTensor(FirstMomentName(slot.name), slot.first_moment));
    checkpoint.tensors.push_back(
        ToNamedTensor(SecondMomentName(slot.name), slot.second_moment));
  }
}

absl::Status AdamW::Load(const Checkpoint& checkpoint) {
  steps_ = checkpoint.optimizer_steps;
  for (Slot& slot : slots_) {
    TARA_RETURN_IF_ERROR(FromCheckpoint(checkpoint, FirstMomentName(slot.name),
                                        slot.first_moment));
    TARA_RETURN_IF_ERROR(FromCheckpoint(checkpoint, SecondMomentName(slot.name),
                                        slot.second_moment));
  }
  return absl::OkStatus();
}

}  // namespace tara
