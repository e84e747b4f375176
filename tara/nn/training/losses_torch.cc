#include "tara/nn/training/losses_torch.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>

#include "tara/base/check.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/nn/encode/encoded_batch.h"
#include "tara/nn/encode/features.h"

namespace tara::nn {
namespace {

// The logit of an illegal action: no share of a softmax, and unlike minus
// infinity no NaN when multiplied by a share of zero.
constexpr float kIllegalLogit = -1e9f;

// Divides sums without weight: 0 divided by this is 0.
constexpr float kMinWeight = 1e-6f;

// Rows of a tensor of floats.
float* Row(const at::Tensor& tensor, int row) {
  return tensor.data_ptr<float>() + row * tensor.stride(0);
}
int64_t* IndexRow(const at::Tensor& tensor, int row) {
  return tensor.data_ptr<int64_t>() + row * tensor.stride(0);
}

absl::Span<float> Floats(const at::Tensor& tensor) {
  return absl::MakeSpan(tensor.data_ptr<float>(),
                        static_cast<size_t>(tensor.numel()));
}

void FillShares(const PolicyTarget& policy, const Symmetry& symmetry,
                float* shares) {
  for (const auto& [action, share] : policy) {
    shares[PolicyOutput(TransformAction(symmetry, action))] = share;
  }
}

// Marks the legal actions in row i of [B, kNumPolicyOutputs].
void FillLegal(const Sample& sample, absl::Span<const int16_t> legal_outputs,
               int i, const at::Tensor& targets) {
  float* const legal = Row(targets, i);
  for (const int16_t output : legal_outputs) legal[output] = 0;
  for (const auto& [action, share] : sample.policy) {
    TARA_CHECK(
        legal[PolicyOutput(TransformAction(sample.symmetry, action))] == 0,
        "a policy target names an illegal action");
  }
}

void FillOwners(const Sample& sample, const at::Tensor& targets, int i) {
  int64_t* const owner = IndexRow(targets, i);
  ForEachHill(sample.own_hills, [&](Hill hill) {
    owner[SquareOf(TransformHill(sample.symmetry.board, hill))] = 0;
  });
  ForEachHill(sample.enemy_hills, [&](Hill hill) {
    owner[SquareOf(TransformHill(sample.symmetry.board, hill))] = 1;
  });
}

at::Tensor NoShares(int64_t count, const at::TensorOptions& memory) {
  return at::zeros({count, kNumPolicyOutputs}, memory);
}

// Returns the mean of the losses [B] by the weights [B], or 0 without any.
at::Tensor WeightedMean(const at::Tensor& losses, const at::Tensor& weights) {
  return (losses * weights).sum() / weights.sum().clamp_min(kMinWeight);
}

// Returns the cross-entropies [B] of logits and shares [B, N].
at::Tensor OfShares(const at::Tensor& logits, const at::Tensor& shares,
                    const at::Tensor& /*hills*/) {
  return -(at::log_softmax(logits, 1) * shares).sum(1);
}

// Returns the cross-entropy of each hill's owner, their mean by sample [B].
at::Tensor OfOwners(const at::Tensor& logits, const at::Tensor& owner,
                    const at::Tensor& hills) {
  return -(at::log_softmax(logits, 1).gather(1, owner) * hills).sum({1, 2, 3}) *
         (1.0 / kNumHills);
}

// The targets and the loss of a head.
struct HeadLoss {
  Head head;
  // Returns the targets of `count` samples, to be filled, in a kind of memory.
  at::Tensor (*make)(int64_t count, const at::TensorOptions& memory);
  // Fills row i. Returns whether the sample has a target for the head.
  bool (*fill)(const Sample& sample, const at::Tensor& targets, int i);
  // Returns the cross-entropies [B].
  at::Tensor (*losses)(const at::Tensor& logits, const at::Tensor& targets,
                       const at::Tensor& hills);
};

constexpr auto kHeadLosses = std::to_array<HeadLoss>({
    // [B, kNumPolicyOutputs]: shares.
    {Head::kPolicy, NoShares,
     [](const Sample& sample, const at::Tensor& targets, int i) {
       FillShares(sample.policy, sample.symmetry, Row(targets, i));
       return !sample.policy.empty();
     },
     OfShares},
    // [B, kNumResults]: shares of win, draw, loss.
    {Head::kValue,
     [](int64_t count, const at::TensorOptions& memory) {
       return at::empty({count, kNumResults}, memory);
     },
     [](const Sample& sample, const at::Tensor& targets, int i) {
       std::copy(sample.result.begin(), sample.result.end(), Row(targets, i));
       return true;
     },
     OfShares},
    // [B, 1], int64: index of the margin's logit.
    {Head::kMargin,
     [](int64_t count, const at::TensorOptions& memory) {
       return at::empty({count, 1}, memory.dtype(at::kLong));
     },
     [](const Sample& sample, const at::Tensor& targets, int i) {
       TARA_CHECK(std::abs(sample.margin) <= kMaxMargin, "no such margin");
       *IndexRow(targets, i) = sample.margin + kMaxMargin;
       return sample.has_margin;
     },
     [](const at::Tensor& logits, const at::Tensor& margin,
        const at::Tensor& /*hills*/) {
       return (-at::log_softmax(logits, 1).gather(1, margin)).squeeze(1);
     }},
    // [B, 1, 7, 7], int64: 0 own, 1 enemy, 2 vacant.
    {Head::kOwner,
     [](int64_t count, const at::TensorOptions& memory) {
       return at::full({count, 1, kBoardSize, kBoardSize}, 2,
                       memory.dtype(at::kLong));
     },
     [](const Sample& sample, const at::Tensor& targets, int i) {
       FillOwners(sample, targets, i);
       return sample.has_final;
     },
     OfOwners},
    // [B, 2, 1], int64: own and enemy kingdoms.
    {Head::kKingdoms,
     [](int64_t count, const at::TensorOptions& memory) {
       return at::empty({count, 2, 1}, memory.dtype(at::kLong));
     },
     [](const Sample& sample, const at::Tensor& targets, int i) {
       int64_t* const kingdoms = IndexRow(targets, i);
       kingdoms[0] = std::min(sample.own_kingdoms, kMaxKingdoms);
       kingdoms[1] = std::min(sample.enemy_kingdoms, kMaxKingdoms);
       return sample.has_final;
     },
     [](const at::Tensor& logits, const at::Tensor& kingdoms,
        const at::Tensor& /*hills*/) {
       const at::Tensor of_sides =
           -at::log_softmax(logits, 2).gather(2, kingdoms);
       return of_sides.mean({1, 2});
     }},
    // [B, kNumPolicyOutputs]: shares.
    {Head::kReply, NoShares,
     [](const Sample& sample, const at::Tensor& targets, int i) {
       FillShares(sample.reply, sample.symmetry, Row(targets, i));
       return !sample.reply.empty();
     },
     OfShares},
});
static_assert(kHeadLosses.size() == kHeads.size());
static_assert([] {
  for (size_t i = 0; i < kHeadLosses.size(); ++i) {
    if (kHeadLosses[i].head != kHeads[i].head) return false;
  }
  return true;
}());

}  // namespace

c10::Device DeviceOf(const TrainerOptions& options) {
  if (options.cuda_device == TrainerOptions::kNoCudaDevice) return at::kCPU;
  return {at::kCUDA, static_cast<c10::DeviceIndex>(options.cuda_device)};
}

PerHead<bool> LearningHeads(const TrainerOptions& options) {
  PerHead<bool> heads;
  for (const HeadInfo& info : kHeads) {
    heads[info.head] =
        !info.is_auxiliary || options.loss_weights[info.head] > 0;
  }
  return heads;
}

EncodedSamples EncodeSamples(const std::vector<Sample>& samples,
                             const PerHead<bool>& heads, bool pinned) {
  std::vector<State> states;
  std::vector<Symmetry> symmetries;
  for (const Sample& sample : samples) {
    states.push_back(sample.state);
    symmetries.push_back(sample.symmetry);
  }
  const auto count = static_cast<int64_t>(samples.size());
  const auto memory = at::TensorOptions(at::kFloat).pinned_memory(pinned);
  const at::Tensor planes =
      at::empty({count, kBoardSize, kBoardSize, kNumPlanes}, memory);
  EncodedSamples all = {
      .planes = planes.permute({0, 3, 1, 2}),
      .globals = at::empty({count, kNumGlobals}, memory),
      .legal = at::full({count, kNumPolicyOutputs}, kIllegalLogit, memory),
      .targets = {},
      .weights = {}};
  EncodedBatch batch;
  batch.Encode(states, symmetries, Floats(planes), Floats(all.globals));
  for (int i = 0; i < batch.size(); ++i) {
    FillLegal(samples[i], batch.OutputsOf(i), i, all.legal);
  }
  for (const HeadLoss& loss : kHeadLosses) {
    if (!heads[loss.head]) continue;
    const at::Tensor targets = loss.make(count, memory);
    const at::Tensor weights = at::empty({count}, memory);
    for (int i = 0; i < batch.size(); ++i) {
      const bool has_target = loss.fill(samples[i], targets, i);
      *Row(weights, i) = has_target ? samples[i].weight : 0;
    }
    all.targets[loss.head] = targets;
    all.weights[loss.head] = weights;
  }
  return all;
}

EncodedSamples Transform(
    const EncodedSamples& samples,
    const std::function<at::Tensor(const at::Tensor&)>& transform) {
  EncodedSamples result = samples;
  for (at::Tensor* const tensor :
       {&result.planes, &result.globals, &result.legal}) {
    *tensor = transform(*tensor);
  }
  for (const HeadInfo& info : kHeads) {
    if (!result.targets[info.head].defined()) continue;
    for (auto* const tensors : {&result.targets, &result.weights}) {
      (*tensors)[info.head] = transform((*tensors)[info.head]);
    }
  }
  return result;
}

EncodedSamples MoveTo(const c10::Device& device,
                      const EncodedSamples& samples) {
  if (device.is_cpu()) return samples;
  return Transform(samples, [&](const at::Tensor& tensor) {
    return tensor.to(device, tensor.scalar_type(), /*non_blocking=*/true);
  });
}

LossTensors ComputeLosses(const NetworkOutput& output,
                          const EncodedSamples& targets,
                          const TrainerOptions& options,
                          const at::Tensor& hills) {
  PerHead<at::Tensor> logits = output;
  logits[Head::kPolicy] = output[Head::kPolicy] + targets.legal;
  LossTensors losses;
  for (const HeadLoss& loss : kHeadLosses) {
    const Head head = loss.head;
    if (!targets.targets[head].defined()) continue;
    TARA_CHECK(logits[head].defined(), "a head that learns is not computed");
    losses.heads[head] =
        WeightedMean(loss.losses(logits[head], targets.targets[head], hills),
                     targets.weights[head]);
    const at::Tensor weighted = options.loss_weights[head] * losses.heads[head];
    losses.total = losses.total.defined() ? losses.total + weighted : weighted;
  }
  const at::Tensor agree = logits[Head::kPolicy]
                               .argmax(1)
                               .eq(targets.targets[Head::kPolicy].argmax(1))
                               .to(at::kFloat);
  losses.accuracy = WeightedMean(agree, targets.weights[Head::kPolicy]);
  return losses;
}

Losses ToLosses(const LossTensors& tensors) {
  Losses losses = {.total = tensors.total.item<double>(),
                   .policy_accuracy = tensors.accuracy.item<double>()};
  for (const HeadInfo& info : kHeads) {
    const at::Tensor& loss = tensors.heads[info.head];
    if (loss.defined()) losses.heads[info.head] = loss.item<double>();
  }
  return losses;
}

at::Tensor PackLosses(const LossTensors& tensors, const at::Tensor& finite) {
  std::vector<at::Tensor> row = {finite.to(at::kFloat), tensors.total.detach(),
                                 tensors.accuracy};
  for (const HeadInfo& info : kHeads) {
    const at::Tensor& loss = tensors.heads[info.head];
    if (loss.defined()) row.push_back(loss.detach());
  }
  return at::stack(row);
}

Losses UnpackLosses(const PerHead<bool>& heads, absl::Span<const float> row) {
  Losses losses = {
      .total = row[1], .policy_accuracy = row[2], .skipped = row[0] == 0};
  size_t next = 3;
  for (const HeadInfo& info : kHeads) {
    if (heads[info.head]) losses.heads[info.head] = row[next++];
  }
  return losses;
}

}  // namespace tara::nn
