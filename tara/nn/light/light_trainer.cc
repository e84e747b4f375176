#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tara/base/check.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/base/threads.h"
#include "tara/core/position_text.h"
#include "tara/core/state.h"
#include "tara/core/symmetry.h"
#include "tara/mcts/evaluator.h"
#include "tara/nn/encode/encoded_batch.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/heads.h"
#include "tara/nn/light/light.h"
#include "tara/nn/light/light_integers.h"
#include "tara/nn/light/light_learning.h"
#include "tara/nn/light/light_network.h"
#include "tara/nn/training/trainer.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {
namespace {

constexpr absl::string_view kRawPrefix = "raw/";
constexpr absl::string_view kFirstMoments = "adamw.first_moment.";
constexpr absl::string_view kSecondMoments = "adamw.second_moment.";

// AdamW: Loshchilov and Hutter 2019 (arXiv:1711.05101). The second moments are
// shorter than usual: nothing here is normed, so that gradients change much.
constexpr double kBeta1 = 0.9;
constexpr double kBeta2 = 0.99;
constexpr double kEpsilon = 1e-8;

// Samples whose gradients are summed one after another; such sums are added in
// order, so that the result does not depend on the number of threads.
constexpr int kChunk = 32;

// Heads that a light network has.
constexpr std::array kLightHeads = {Head::kPolicy, Head::kValue, Head::kMargin,
                                    Head::kOwner};

// Reads samples of a batch, seen through the symmetries to the representatives
// of their positions: as the network will meet them. `out` is valid until the
// batch is used again.
void ReadSamples(absl::Span<const Sample> samples, EncodedBatch& batch,
                 absl::Span<LightSample> out) {
  std::vector<State> states;
  std::vector<Symmetry> symmetries;
  for (const Sample& sample : samples) {
    states.push_back(sample.state);
    symmetries.push_back(RepresentativeSymmetry(sample.state));
  }
  batch.Encode(states, symmetries);
  std::array<float, kNumPolicyOutputs> shares;
  for (size_t i = 0; i < samples.size(); ++i) {
    const Sample& sample = samples[i];
    LightSample& to = out[i];
    ReadLightInput(batch.planes() + i * kNumPlanes * kNumSquares,
                   batch.globals() + i * kNumGlobals, to.input);
    to.targets = &sample;
    to.outputs = batch.OutputsOf(static_cast<int>(i));
    to.policy.clear();
    if (!sample.policy.empty()) {
      for (const int16_t output : to.outputs) shares[output] = 0;
      for (const auto& [action, share] : sample.policy) {
        shares[PolicyOutput(TransformAction(symmetries[i], action))] = share;
      }
      float total = 0;
      for (const int16_t output : to.outputs) {
        to.policy.push_back(shares[output]);
        total += shares[output];
      }
      TARA_CHECK(total > 0.99f, "a policy target names an illegal action");
    }
    const Board own = TransformBoard(symmetries[i].board, sample.own_hills);
    const Board enemy = TransformBoard(symmetries[i].board, sample.enemy_hills);
    for (Hill hill = 0; hill < kNumHills; ++hill) {
      const Board board = BoardOf(hill);
      to.owners[hill] = (own & board) != 0 ? 0 : (enemy & board) != 0 ? 1 : 2;
    }
  }
}

// Sets a tensor to normal numbers. Each column of a matrix has a mean of 0:
// inputs are never negative, so with another mean a unit would begin far to one
// side of its ReLU.
void Initialize(const LightTensor& tensor, Random& random, float* parameters) {
  for (int row = 0; row < tensor.rows; ++row) {
    for (int column = 0; column < tensor.columns; ++column) {
      parameters[tensor.RowAt(row) + column] =
          static_cast<float>(tensor.scale * random.Normal());
    }
  }
  if (tensor.rows == 1) return;
  for (int column = 0; column < tensor.columns; ++column) {
    float* const values = parameters + tensor.offset + column;
    float sum = 0;
    for (int row = 0; row < tensor.rows; ++row) {
      sum += values[row * tensor.stride];
    }
    for (int row = 0; row < tensor.rows; ++row) {
      values[row * tensor.stride] -= sum / static_cast<float>(tensor.rows);
    }
  }
}

class LightTrainer : public Trainer {
 public:
  LightTrainer(const NetworkShape& shape, const TrainerOptions& options,
               uint64_t seed, std::unique_ptr<LightGradients> elsewhere)
      : shape_(shape),
        options_(options),
        elsewhere_(std::move(elsewhere)),
        tensors_(shape.blocks),
        weights_(tensors_.size()),
        average_(tensors_.size()),
        first_(tensors_.size()),
        second_(tensors_.size()),
        transposed_(tensors_) {
    Random random(seed);
    for (const LightTensor* const tensor : tensors_.all()) {
      Initialize(*tensor, random, weights_.data());
    }
    // A layer begins with what a hill itself has.
    const auto own = std::find_if(
        kLightTaps.begin(), kLightTaps.end(),
        [](const LightTap& tap) { return tap.file == 0 && tap.rank == 0; });
    for (const LightLayer& layer : tensors_.layers) {
      float* const row =
          weights_.data() +
          layer.taps.RowAt(static_cast<int>(own - kLightTaps.begin()));
      for (int column = 0; column < kLightChannels; ++column) row[column] += 1;
    }
    std::copy_n(weights_.data(), weights_.size(), average_.data());
  }

  absl::Status Load(const Checkpoint& checkpoint) {
    const bool averaged = checkpoint.HasPrefix(kRawPrefix);
    TARA_RETURN_IF_ERROR(
        tensors_.Read(checkpoint, averaged ? kRawPrefix : "", weights_.data()));
    TARA_RETURN_IF_ERROR(tensors_.Read(checkpoint, "", average_.data()));
    if (!checkpoint.HasPrefix(kFirstMoments)) return absl::OkStatus();
    TARA_RETURN_IF_ERROR(
        tensors_.Read(checkpoint, kFirstMoments, first_.data()));
    TARA_RETURN_IF_ERROR(
        tensors_.Read(checkpoint, kSecondMoments, second_.data()));
    steps_ = checkpoint.optimizer_steps;
    return absl::OkStatus();
  }

  absl::StatusOr<Losses> Step(const std::vector<Sample>& batch,
                              double learning_rate) override {
    TARA_CHECK(!batch.empty(), "a step needs samples");
    TARA_ASSIGN_OR_RETURN(const auto prepared, Prepare(batch));
    return MakeStep(*prepared, learning_rate);
  }

  absl::StatusOr<std::unique_ptr<PreparedBatch>> Prepare(
      std::vector<Sample> batch) const override {
    return elsewhere_ == nullptr ? Trainer::Prepare(std::move(batch))
                                 : elsewhere_->Prepare(std::move(batch));
  }

  absl::Status StartStep(const PreparedBatch& batch,
                         double learning_rate) override {
    TARA_ASSIGN_OR_RETURN(const Losses losses, MakeStep(batch, learning_rate));
    finished_.push_back(losses);
    return absl::OkStatus();
  }

  absl::StatusOr<Losses> Measure(const std::vector<Sample>& batch) override {
    TARA_CHECK(!batch.empty(), "losses need samples");
    return ToLosses(Differentiate(batch, published(), /*learn=*/false));
  }

  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<mcts::Evaluation> results) override {
    EvaluateInFloats(tensors_, published().data(), states, results);
    return absl::OkStatus();
  }

  Checkpoint ToCheckpoint(const TrainingProgress& progress) const {
    Checkpoint checkpoint = {.shape = shape_,
                             .progress = progress,
                             .optimizer_steps = steps_,
                             .tensors = {}};
    tensors_.Write(published().data(), "", checkpoint);
    if (is_averaged()) tensors_.Write(weights_.data(), kRawPrefix, checkpoint);
    tensors_.Write(first_.data(), kFirstMoments, checkpoint);
    tensors_.Write(second_.data(), kSecondMoments, checkpoint);
    return checkpoint;
  }

  absl::Status Save(const std::string& path, const TrainingProgress& progress,
                    absl::Span<const State> positions) override {
    Checkpoint checkpoint = ToCheckpoint(progress);
    if (const absl::Status finite = CheckFinite(checkpoint); !finite.ok()) {
      return absl::AbortedError(
          absl::StrCat(path, " is not written: ", finite.message()));
    }
    if (!positions.empty()) {
      std::vector<mcts::Evaluation> results(positions.size());
      TARA_RETURN_IF_ERROR(Evaluate(positions, absl::MakeSpan(results)));
      for (size_t i = 0; i < results.size(); ++i) {
        if (IsFinite(results[i])) continue;
        return absl::AbortedError(
            absl::StrCat(path,
                         " is not written: the outputs of the network for the "
                         "position ",
                         PositionToText(positions[i]), " are not finite"));
      }
      WriteLightRanges(
          MeasureLightRanges(tensors_, published().data(), positions),
          checkpoint);
    }
    return WriteCheckpoint(path, checkpoint);
  }

 private:
  // Makes the step of a batch's gradient, if it is finite.
  absl::StatusOr<Losses> MakeStep(const PreparedBatch& batch,
                                  double learning_rate) {
    Losses losses;
    if (elsewhere_ == nullptr) {
      losses = ToLosses(Differentiate(batch.samples, weights_, /*learn=*/true));
    } else {
      if (gradients_.empty()) gradients_.emplace_back(weights_.size());
      TARA_ASSIGN_OR_RETURN(
          losses,
          elsewhere_->Compute(
              batch, absl::MakeConstSpan(weights_.data(), weights_.size()),
              absl::MakeSpan(gradients_[0].data(), gradients_[0].size())));
    }
    double square = 0;
    for (size_t i = 0; i < weights_.size(); ++i) {
      square += static_cast<double>(gradients_[0].data()[i]) *
                gradients_[0].data()[i];
    }
    const double norm = std::sqrt(square);
    losses.skipped = !std::isfinite(losses.total) || !std::isfinite(norm);
    if (losses.skipped) return losses;
    const double most = options_.max_gradient_norm;
    Update(learning_rate, most > 0 && norm > most ? most / norm : 1);
    return losses;
  }

  bool is_averaged() const { return options_.ema_decay > 0; }
  // The weights as the network plays.
  const AlignedFloats& published() const {
    return is_averaged() ? average_ : weights_;
  }

  // Returns the losses of the batch; with `learn`, gradients_[0] is the
  // gradient of their total.
  LightLosses Differentiate(const std::vector<Sample>& batch,
                            const AlignedFloats& weights, bool learn) {
    const int size = static_cast<int>(batch.size());
    const int chunks = (size + kChunk - 1) / kChunk;
    // A mean over the samples with a head's target, by weight.
    LightLosses all;
    for (const Sample& sample : batch) {
      all.weights[Head::kPolicy] += sample.policy.empty() ? 0 : sample.weight;
      all.weights[Head::kValue] += sample.weight;
      all.weights[Head::kMargin] += sample.has_margin ? sample.weight : 0;
      all.weights[Head::kOwner] += sample.has_final ? sample.weight : 0;
    }
    PerHead<float> scales;
    for (const Head head : kLightHeads) {
      const double weight = all.weights[head];
      if (learn && weight > 0) {
        scales[head] = static_cast<float>(options_.loss_weights[head] / weight);
      }
    }
    if (learn) transposed_.Refresh(weights.data());
    while (static_cast<int>(gradients_.size()) < chunks) {
      gradients_.emplace_back(weights_.size());
    }
    std::vector<LightLosses> losses(chunks);
    std::atomic<int> next = 0;
    RunOnThreads(std::clamp(options_.threads, 1, chunks), [&](int) {
      EncodedBatch encoded;
      std::vector<LightSample> samples(kChunk);
      const auto activations = std::make_unique<LightActivations>();
      for (int chunk = next++; chunk < chunks; chunk = next++) {
        const int first = chunk * kChunk;
        const int count = std::min(kChunk, size - first);
        ReadSamples(absl::MakeConstSpan(batch).subspan(first, count), encoded,
                    absl::MakeSpan(samples).subspan(0, count));
        float* const gradient = gradients_[chunk].data();
        std::fill_n(gradient, weights_.size(), 0.0f);
        for (int i = 0; i < count; ++i) {
          const LightLearning& learning = BestLightLearning();
          learning.forward(tensors_, weights.data(), samples[i].input,
                           samples[i].outputs, *activations);
          learning.backward(tensors_, weights.data(), transposed_, samples[i],
                            scales, *activations, gradient, losses[chunk]);
        }
      }
    });
    for (int chunk = 1; chunk < chunks; ++chunk) {
      losses[0] += losses[chunk];
      if (!learn) continue;
      float* const sum = gradients_[0].data();
      const float* const part = gradients_[chunk].data();
      for (size_t i = 0; i < weights_.size(); ++i) sum[i] += part[i];
    }
    return losses[0];
  }

  Losses ToLosses(const LightLosses& sums) const {
    Losses losses;
    for (const Head head : kLightHeads) {
      const bool computed =
          head != Head::kOwner || options_.loss_weights[head] > 0;
      if (!computed || sums.weights[head] == 0) continue;
      losses.heads[head] = sums.sums[head] / sums.weights[head];
      losses.total += options_.loss_weights[head] * losses.heads[head];
    }
    if (sums.weights[Head::kPolicy] > 0) {
      losses.policy_accuracy = sums.agreements / sums.weights[Head::kPolicy];
    }
    return losses;
  }

  void Update(double rate, double clip) {
    ++steps_;
    const auto t = static_cast<double>(steps_);
    const double step = rate / (1 - std::pow(kBeta1, t));
    const double correction = 1 / std::sqrt(1 - std::pow(kBeta2, t));
    for (const LightTensor* const tensor : tensors_.all()) {
      const auto decay = static_cast<float>(
          tensor->decays() ? 1 - rate * options_.weight_decay : 1);
      for (size_t i = tensor->offset; i < tensor->offset + tensor->size();
           ++i) {
        const auto gradient =
            static_cast<float>(clip * gradients_[0].data()[i]);
        float& first = first_.data()[i];
        float& second = second_.data()[i];
        float& weight = weights_.data()[i];
        first = static_cast<float>(kBeta1 * first + (1 - kBeta1) * gradient);
        second = static_cast<float>(kBeta2 * second +
                                    (1 - kBeta2) * gradient * gradient);
        weight = static_cast<float>(
            weight * decay -
            step * first / (std::sqrt(second) * correction + kEpsilon));
      }
    }
    if (!is_averaged()) return;
    // Like WeightAverage (tara/nn/training/optimizer_torch.h).
    const double decay =
        std::min<double>(options_.ema_decay, (1 + t) / (10 + t));
    for (size_t i = 0; i < weights_.size(); ++i) {
      float& average = average_.data()[i];
      average +=
          static_cast<float>((1 - decay) * (weights_.data()[i] - average));
    }
  }

  const NetworkShape shape_;
  const TrainerOptions options_;
  const std::unique_ptr<LightGradients> elsewhere_;  // null: here
  const LightTensors tensors_;
  AlignedFloats weights_, average_, first_, second_;
  int64_t steps_ = 0;
  TransposedLight transposed_;
  std::vector<AlignedFloats> gradients_;  // of the chunks
};

}  // namespace

absl::Status CheckLightTraining(const TrainerOptions& options) {
  const auto error = [](absl::string_view what, absl::string_view expected) {
    return absl::UnimplementedError(absl::StrCat(
        "a light network does not learn ", what, "; expected ", expected));
  };
  if (options.optimizer != OptimizerKind::kAdamW) {
    return error("with an optimizer other than adamw",
                 "learner.optimizer: adamw");
  }
  if (options.autocast) {
    return error("in bfloat16", "learner.autocast: off");
  }
  for (const HeadInfo& info : kHeads) {
    const bool has = std::find(kLightHeads.begin(), kLightHeads.end(),
                               info.head) != kLightHeads.end();
    if (!has && options.loss_weights[info.head] > 0) {
      return error(absl::StrCat("the head '", info.name, "'"),
                   absl::StrCat("learner.", info.weight_field, ": 0"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Trainer>> MakeLightTrainer(
    const std::string& name, const Checkpoint& checkpoint,
    const TrainerOptions& options, std::unique_ptr<LightGradients> gradients) {
  TARA_RETURN_IF_ERROR(CheckLightTraining(options));
  absl::Status status = CheckLightShape(checkpoint.shape);
  if (status.ok()) {
    auto trainer = std::make_unique<LightTrainer>(
        checkpoint.shape, options, /*seed=*/0, std::move(gradients));
    status = trainer->Load(checkpoint);
    if (status.ok()) return trainer;
  }
  return absl::DataLossError(absl::StrCat(name, ": ", status.message()));
}

Checkpoint NewLightCheckpoint(const NetworkShape& shape, uint64_t seed) {
  return LightTrainer(shape, {}, seed, nullptr).ToCheckpoint({});
}

}  // namespace tara::nn
