#include "tara/nn/trainer.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <exception>

#include "absl/strings/str_cat.h"
#include "tara/base/check.h"
#include "tara/base/status_macros.h"
#include "tara/core/outcome.h"
#include "tara/nn/adamw_torch.h"
#include "tara/nn/encoded_batch.h"
#include "tara/nn/features.h"
#include "tara/nn/network_torch.h"
#include "tara/nn/policy_map.h"
#include "tara/nn/torch_runtime.h"

namespace tara {
namespace {

// The logit of an illegal action: no share of a softmax, and unlike minus
// infinity no NaN when multiplied by a share of zero.
constexpr float kIllegalLogit = -1e9f;

// Divides what has no weight: 0 by this is 0.
constexpr float kLeastWeight = 1e-6f;

// A batch of samples as tensors.
struct Targets {
  at::Tensor legal;       // [B, kNumPolicyOutputs]: 0, or kIllegalLogit
  at::Tensor policy;      // [B, kNumPolicyOutputs]: shares, or all 0
  at::Tensor has_policy;  // [B]: the sample's weight, or 0
  at::Tensor weight;      // [B]
  at::Tensor result;      // [B, 3]: shares of win, draw, loss
  at::Tensor margin;      // [B, 1], int64: index of the margin's logit
  at::Tensor has_margin;  // [B]: the sample's weight, or 0
};

// Encodes the samples into `batch`, and their targets.
Targets EncodeSamples(const std::vector<Sample>& samples, EncodedBatch& batch) {
  const auto count = static_cast<int64_t>(samples.size());
  Targets targets = {
      .legal = at::full({count, kNumPolicyOutputs}, kIllegalLogit),
      .policy = at::zeros({count, kNumPolicyOutputs}),
      .has_policy = at::zeros({count}),
      .weight = at::empty({count}),
      .result = at::empty({count, 3}),
      .margin = at::empty({count, 1}, at::kLong),
      .has_margin = at::empty({count})};
  std::vector<State> states;
  std::vector<Symmetry> symmetries;
  for (const Sample& sample : samples) {
    states.push_back(sample.state);
    symmetries.push_back(sample.symmetry);
  }
  batch.Encode(states, symmetries);
  for (int i = 0; i < static_cast<int>(count); ++i) {
    const Sample& sample = samples[i];
    float* const legal =
        targets.legal.data_ptr<float>() + i * kNumPolicyOutputs;
    float* const policy =
        targets.policy.data_ptr<float>() + i * kNumPolicyOutputs;
    float* const result = targets.result.data_ptr<float>() + i * 3;
    for (const int16_t output : batch.OutputsOf(i)) legal[output] = 0;
    for (const auto& [action, share] : sample.policy) {
      const int output = PolicyOutput(TransformAction(sample.symmetry, action));
      TARA_CHECK(legal[output] == 0, "a policy target names an illegal action");
      policy[output] = share;
    }
    targets.has_policy.data_ptr<float>()[i] =
        sample.policy.empty() ? 0 : sample.weight;
    targets.weight.data_ptr<float>()[i] = sample.weight;
    std::copy(sample.result.begin(), sample.result.end(), result);
    TARA_CHECK(std::abs(sample.margin) <= kMaxMargin, "no such margin");
    targets.margin.data_ptr<int64_t>()[i] = sample.margin + kMaxMargin;
    targets.has_margin.data_ptr<float>()[i] =
        sample.has_margin ? sample.weight : 0;
  }
  return targets;
}

// Returns the mean of the losses [B] by the weights [B], or 0 without any.
at::Tensor WeightedMean(const at::Tensor& losses, const at::Tensor& weights) {
  return (losses * weights).sum() / weights.sum().clamp_min(kLeastWeight);
}

struct LossTensors {
  at::Tensor total, policy, value, margin, accuracy;
};

LossTensors ComputeLosses(const NetworkOutput& output, const Targets& targets,
                          float margin_weight) {
  LossTensors losses;
  const at::Tensor logits = output.policy + targets.legal;
  losses.policy =
      WeightedMean(-(at::log_softmax(logits, 1) * targets.policy).sum(1),
                   targets.has_policy);
  losses.value =
      WeightedMean(-(at::log_softmax(output.result, 1) * targets.result).sum(1),
                   targets.weight);
  losses.margin = WeightedMean(
      -at::log_softmax(output.margins, 1).gather(1, targets.margin).squeeze(1),
      targets.has_margin);
  losses.total = losses.policy + losses.value + margin_weight * losses.margin;
  const at::Tensor agree =
      logits.argmax(1).eq(targets.policy.argmax(1)).to(at::kFloat);
  losses.accuracy = WeightedMean(agree, targets.has_policy);
  return losses;
}

Losses ToLosses(const LossTensors& tensors) {
  return {.total = tensors.total.item<double>(),
          .policy = tensors.policy.item<double>(),
          .value = tensors.value.item<double>(),
          .margin = tensors.margin.item<double>(),
          .policy_accuracy = tensors.accuracy.item<double>()};
}

absl::Status TorchError(absl::string_view doing, const std::exception& error) {
  return absl::InternalError(
      absl::StrCat("LibTorch failed while ", doing, ": ", error.what()));
}

class TorchTrainer : public Trainer {
 public:
  TorchTrainer(const NetworkShape& shape, const TrainerOptions& options)
      : options_(options),
        network_(std::make_shared<Network>(shape)),
        optimizer_(*network_, options.weight_decay) {}

  void Initialize(uint64_t seed) { InitializeWeights(seed, *network_); }

  absl::Status Load(const Checkpoint& checkpoint) {
    TARA_RETURN_IF_ERROR(LoadWeights(checkpoint, *network_));
    return optimizer_.Load(checkpoint);
  }

  absl::StatusOr<Losses> Step(const std::vector<Sample>& batch,
                              double learning_rate) override {
    TARA_CHECK(!batch.empty(), "a step needs samples");
    SetTorchThreads(options_.threads);
    try {
      const Targets targets = EncodeSamples(batch, encoded_);
      network_->train();
      optimizer_.ZeroGradients();
      const LossTensors losses = ComputeLosses(
          network_->forward(PlanesOf(encoded_), GlobalsOf(encoded_)), targets,
          options_.margin_loss_weight);
      losses.total.backward();
      const double norm = optimizer_.ClipGradients(options_.max_gradient_norm);
      const Losses result = ToLosses(losses);
      if (!std::isfinite(result.total) || !std::isfinite(norm)) {
        return absl::InternalError(absl::StrCat(
            "the losses of a batch of ", batch.size(),
            " are not finite: policy ", result.policy, ", value ", result.value,
            ", margin ", result.margin, ", gradient ", norm));
      }
      optimizer_.Step(learning_rate);
      return result;
    } catch (const std::exception& error) {
      return TorchError("learning", error);
    }
  }

  absl::StatusOr<Losses> Measure(const std::vector<Sample>& batch) override {
    TARA_CHECK(!batch.empty(), "losses need samples");
    SetTorchThreads(options_.threads);
    try {
      const torch::NoGradGuard no_gradients;
      const Targets targets = EncodeSamples(batch, encoded_);
      network_->eval();
      return ToLosses(ComputeLosses(
          network_->forward(PlanesOf(encoded_), GlobalsOf(encoded_)), targets,
          options_.margin_loss_weight));
    } catch (const std::exception& error) {
      return TorchError("measuring losses", error);
    }
  }

  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<Evaluation> results) override {
    if (states.empty()) return absl::OkStatus();
    SetTorchThreads(options_.threads);
    try {
      const torch::NoGradGuard no_gradients;
      encoded_.EncodeCanonical(states);
      network_->eval();
      const NetworkOutput output =
          network_->forward(PlanesOf(encoded_), GlobalsOf(encoded_));
      const at::Tensor policy = output.policy.contiguous();
      const at::Tensor result = output.result.contiguous();
      const at::Tensor margins = output.margins.contiguous();
      for (int i = 0; i < encoded_.size(); ++i) {
        FillEvaluation(
            encoded_, i,
            {.policy = policy.data_ptr<float>() + i * kNumPolicyOutputs,
             .result = result.data_ptr<float>() + i * 3,
             .margins = margins.data_ptr<float>() + i * kNumMargins},
            results[i]);
      }
      return absl::OkStatus();
    } catch (const std::exception& error) {
      return TorchError("evaluating", error);
    }
  }

  absl::Status Save(const std::string& path,
                    const TrainingProgress& progress) override {
    Checkpoint checkpoint = {.shape = network_->shape,
                             .progress = progress,
                             .optimizer_steps = 0,
                             .tensors = {}};
    try {
      for (const auto& [name, tensor] : NetworkTensors(*network_)) {
        checkpoint.tensors.push_back(ToNamedTensor(name, tensor));
      }
      optimizer_.Save(checkpoint);
    } catch (const std::exception& error) {
      return TorchError("saving", error);
    }
    return WriteCheckpoint(path, checkpoint);
  }

 private:
  const TrainerOptions options_;
  const std::shared_ptr<Network> network_;
  AdamW optimizer_;
  EncodedBatch encoded_;
};

}  // namespace

std::unique_ptr<Trainer> NewTrainer(const NetworkShape& shape,
                                    const TrainerOptions& options,
                                    uint64_t seed) {
  auto trainer = std::make_unique<TorchTrainer>(shape, options);
  trainer->Initialize(seed);
  return trainer;
}

absl::StatusOr<std::pair<std::unique_ptr<Trainer>, TrainingProgress>>
LoadTrainer(const std::string& path, const TrainerOptions& options) {
  TARA_ASSIGN_OR_RETURN(const Checkpoint checkpoint, ReadCheckpoint(path));
  try {
    auto trainer = std::make_unique<TorchTrainer>(checkpoint.shape, options);
    if (const absl::Status loaded = trainer->Load(checkpoint); !loaded.ok()) {
      return absl::DataLossError(
          absl::StrCat("Checkpoint ", path, ": ", loaded.message()));
    }
    return std::pair<std::unique_ptr<Trainer>, TrainingProgress>(
        std::move(trainer), checkpoint.progress);
  } catch (const std::exception& error) {
    return TorchError(absl::StrCat("loading ", path), error);
  }
}

}  // namespace tara
