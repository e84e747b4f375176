#include "tara/nn/training/losses_torch.h"

#include <algorithm>
#include <cstdlib>

#include "tara/base/check.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/nn/encode/features.h"

namespace tara::nn {
namespace {

// The logit of an illegal action: no share of a softmax, and unlike minus
// infinity no NaN when multiplied by a share of zero.
constexpr float kIllegalLogit = -1e9f;

// Divides what has no weight: 0 by this is 0.
constexpr float kLeastWeight = 1e-6f;

// Rows of a tensor of floats.
float* Row(const at::Tensor& tensor, int row) {
  return tensor.data_ptr<float>() + row * tensor.stride(0);
}
int64_t* IndexRow(const at::Tensor& tensor, int row) {
  return tensor.data_ptr<int64_t>() + row * tensor.stride(0);
}

void FillShares(const PolicyTarget& policy, const Symmetry& symmetry,
                float* shares) {
  for (const auto& [action, share] : policy) {
    shares[PolicyOutput(TransformAction(symmetry, action))] = share;
  }
}

void FillPolicy(const Sample& sample, absl::Span<const int16_t> legal_outputs,
                int i, Targets& targets) {
  float* const legal = Row(targets.legal, i);
  for (const int16_t output : legal_outputs) legal[output] = 0;
  for (const auto& [action, share] : sample.policy) {
    TARA_CHECK(
        legal[PolicyOutput(TransformAction(sample.symmetry, action))] == 0,
        "a policy target names an illegal action");
  }
  FillShares(sample.policy, sample.symmetry, Row(targets.policy, i));
  *Row(targets.policy_weight, i) = sample.policy.empty() ? 0 : sample.weight;
}

void FillValue(const Sample& sample, int i, Targets& targets) {
  *Row(targets.weight, i) = sample.weight;
  std::copy(sample.result.begin(), sample.result.end(), Row(targets.result, i));
  TARA_CHECK(std::abs(sample.margin) <= kMaxMargin, "no such margin");
  *IndexRow(targets.margin, i) = sample.margin + kMaxMargin;
  *Row(targets.margin_weight, i) = sample.has_margin ? sample.weight : 0;
}

void FillFinal(const Sample& sample, int i, Targets& targets) {
  *Row(targets.final_weight, i) = sample.has_final ? sample.weight : 0;
  int64_t* const owner = IndexRow(targets.owner, i);
  ForEachHill(sample.own_hills, [&](Hill hill) {
    owner[SquareOf(TransformHill(sample.symmetry.board, hill))] = 0;
  });
  ForEachHill(sample.enemy_hills, [&](Hill hill) {
    owner[SquareOf(TransformHill(sample.symmetry.board, hill))] = 1;
  });
  int64_t* const kingdoms = IndexRow(targets.kingdoms, i);
  kingdoms[0] = std::min(sample.own_kingdoms, kMaxKingdoms);
  kingdoms[1] = std::min(sample.enemy_kingdoms, kMaxKingdoms);
}

Targets MakeTargets(int64_t count, const AuxiliaryHeads& heads) {
  Targets targets = {
      .weight = at::empty({count}),
      .legal = at::full({count, kNumPolicyOutputs}, kIllegalLogit),
      .policy = at::zeros({count, kNumPolicyOutputs}),
      .policy_weight = at::empty({count}),
      .result = at::empty({count, 3}),
      .margin = at::empty({count, 1}, at::kLong),
      .margin_weight = at::empty({count})};
  if (heads.owner || heads.kingdoms) {
    targets.final_weight = at::empty({count});
    targets.owner = at::full({count, 1, kBoardSize, kBoardSize}, 2, at::kLong);
    targets.kingdoms = at::empty({count, 2, 1}, at::kLong);
  }
  if (heads.reply) {
    targets.reply = at::zeros({count, kNumPolicyOutputs});
    targets.reply_weight = at::empty({count});
  }
  return targets;
}

// Returns the mean of the losses [B] by the weights [B], or 0 without any.
at::Tensor WeightedMean(const at::Tensor& losses, const at::Tensor& weights) {
  return (losses * weights).sum() / weights.sum().clamp_min(kLeastWeight);
}

// Returns the cross-entropies [B] of logits and shares [B, N].
at::Tensor OfShares(const at::Tensor& logits, const at::Tensor& shares) {
  return -(at::log_softmax(logits, 1) * shares).sum(1);
}

// Returns the cross-entropy of each hill's owner, their mean by sample [B].
at::Tensor OfOwners(const at::Tensor& logits, const at::Tensor& owner) {
  const at::Tensor hills = MakeHillMask().to(logits.device());
  return -(at::log_softmax(logits, 1).gather(1, owner) * hills).sum({1, 2, 3}) *
         (1.0 / kNumHills);
}

}  // namespace

Targets EncodeSamples(const std::vector<Sample>& samples,
                      const AuxiliaryHeads& heads, EncodedBatch& batch) {
  std::vector<State> states;
  std::vector<Symmetry> symmetries;
  for (const Sample& sample : samples) {
    states.push_back(sample.state);
    symmetries.push_back(sample.symmetry);
  }
  batch.Encode(states, symmetries);
  Targets targets = MakeTargets(static_cast<int64_t>(samples.size()), heads);
  for (int i = 0; i < batch.size(); ++i) {
    const Sample& sample = samples[i];
    FillPolicy(sample, batch.OutputsOf(i), i, targets);
    FillValue(sample, i, targets);
    if (targets.owner.defined()) FillFinal(sample, i, targets);
    if (targets.reply.defined()) {
      FillShares(sample.reply, sample.symmetry, Row(targets.reply, i));
      *Row(targets.reply_weight, i) = sample.reply.empty() ? 0 : sample.weight;
    }
  }
  return targets;
}

Targets MoveTo(const c10::Device& device, const Targets& targets) {
  if (device.is_cpu()) return targets;
  Targets moved = targets;
  for (at::Tensor* const tensor :
       {&moved.weight, &moved.legal, &moved.policy, &moved.policy_weight,
        &moved.result, &moved.margin, &moved.margin_weight, &moved.final_weight,
        &moved.owner, &moved.kingdoms, &moved.reply, &moved.reply_weight}) {
    if (tensor->defined()) *tensor = tensor->to(device);
  }
  return moved;
}

AuxiliaryHeads HeadsOf(const TrainerOptions& options) {
  return {.owner = options.owner_loss_weight > 0,
          .kingdoms = options.kingdoms_loss_weight > 0,
          .reply = options.reply_loss_weight > 0};
}

LossTensors ComputeLosses(const NetworkOutput& output, const Targets& targets,
                          const TrainerOptions& options) {
  LossTensors losses;
  const at::Tensor logits = output.policy + targets.legal;
  losses.policy =
      WeightedMean(OfShares(logits, targets.policy), targets.policy_weight);
  losses.value =
      WeightedMean(OfShares(output.result, targets.result), targets.weight);
  losses.margin = WeightedMean(
      -at::log_softmax(output.margins, 1).gather(1, targets.margin).squeeze(1),
      targets.margin_weight);
  losses.total =
      losses.policy + losses.value + options.margin_loss_weight * losses.margin;
  if (output.owner.defined()) {
    losses.owner = WeightedMean(OfOwners(output.owner, targets.owner),
                                targets.final_weight);
    losses.total = losses.total + options.owner_loss_weight * losses.owner;
  }
  if (output.kingdoms.defined()) {
    const at::Tensor of_sides =
        -at::log_softmax(output.kingdoms, 2).gather(2, targets.kingdoms);
    losses.kingdoms = WeightedMean(of_sides.mean({1, 2}), targets.final_weight);
    losses.total =
        losses.total + options.kingdoms_loss_weight * losses.kingdoms;
  }
  if (output.reply.defined()) {
    losses.reply = WeightedMean(OfShares(output.reply, targets.reply),
                                targets.reply_weight);
    losses.total = losses.total + options.reply_loss_weight * losses.reply;
  }
  const at::Tensor agree =
      logits.argmax(1).eq(targets.policy.argmax(1)).to(at::kFloat);
  losses.accuracy = WeightedMean(agree, targets.policy_weight);
  return losses;
}

Losses ToLosses(const LossTensors& tensors) {
  const auto number = [](const at::Tensor& tensor) {
    return tensor.defined() ? tensor.item<double>() : 0.0;
  };
  return {.total = number(tensors.total),
          .policy = number(tensors.policy),
          .value = number(tensors.value),
          .margin = number(tensors.margin),
          .owner = number(tensors.owner),
          .kingdoms = number(tensors.kingdoms),
          .reply = number(tensors.reply),
          .policy_accuracy = number(tensors.accuracy)};
}

}  // namespace tara::nn
