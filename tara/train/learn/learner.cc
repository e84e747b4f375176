#include "tara/train/learn/learner.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tara/base/status_macros.h"

namespace tara::train {

absl::StatusOr<std::vector<HeldOutLosses>> MeasureHeldOut(
    const Sampler& sampler, nn::Trainer& trainer) {
  std::vector<HeldOutLosses> measured;
  for (const Variant variant : sampler.HeldOutVariants()) {
    const std::vector<nn::Sample> samples =
        sampler.HeldOutSamples(variant, kMostHeldOutPositions);
    if (samples.size() < kLeastHeldOutPositions) continue;
    TARA_ASSIGN_OR_RETURN(const nn::Losses losses, trainer.Measure(samples));
    measured.push_back({.variant = variant,
                        .positions = static_cast<int64_t>(samples.size()),
                        .losses = losses});
  }
  return measured;
}

namespace {

// Moves means of `count` - 1 losses to the means of `count`.
void AddToMeans(const nn::Losses& losses, int count, nn::Losses& means) {
  const auto add = [count](double value, double& mean) {
    mean += (value - mean) / count;
  };
  add(losses.total, means.total);
  for (const nn::HeadInfo& info : nn::kHeads) {
    add(losses.heads[info.head], means.heads[info.head]);
  }
  add(losses.policy_accuracy, means.policy_accuracy);
}

}  // namespace

nn::Losses MeanLosses(const std::vector<HeldOutLosses>& by_variant) {
  nn::Losses means;
  int count = 0;
  for (const HeldOutLosses& each : by_variant) {
    AddToMeans(each.losses, ++count, means);
  }
  return means;
}

double LearningRate(const LearningRateSchedule& schedule, int64_t step) {
  if (step < schedule.warmup_steps) {
    return schedule.peak * static_cast<double>(step + 1) /
           static_cast<double>(schedule.warmup_steps);
  }
  if (schedule.shape == RateShape::kSteps) {
    double rate = schedule.peak;
    for (const double milestone : schedule.milestones) {
      const double begin =
          milestone * static_cast<double>(schedule.total_steps);
      if (static_cast<double>(step) >= begin) rate *= 0.1;
    }
    return rate;
  }
  const int64_t falling = schedule.total_steps - schedule.warmup_steps;
  const double done =
      falling <= 0
          ? 1.0
          : std::min(1.0, static_cast<double>(step - schedule.warmup_steps) /
                              static_cast<double>(falling));
  const double cosine = (1.0 + std::cos(std::numbers::pi * done)) / 2.0;
  return schedule.peak *
         (schedule.final_fraction + (1.0 - schedule.final_fraction) * cosine);
}

int StepsToLearn(int steps, int batch_size, double max_samples_per_position,
                 int64_t new_positions) {
  if (max_samples_per_position <= 0) return steps;
  const double samples =
      max_samples_per_position * static_cast<double>(new_positions);
  const double most = std::max(1.0, std::floor(samples / batch_size));
  return static_cast<int>(std::min<double>(steps, most));
}

absl::StatusOr<LearnResult> Learn(const LearnOptions& options,
                                  const Sampler& sampler, nn::Trainer& trainer,
                                  nn::TrainingProgress& progress,
                                  const StopCheck& stop,
                                  const LearnObserver& observer) {
  LearnResult result;
  int learned = 0;
  int skipped_in_a_row = 0;
  for (int done = 1; done <= options.steps; ++done) {
    if (stop()) {
      return absl::CancelledError("learning was interrupted");
    }
    const std::vector<nn::Sample> batch =
        sampler.Batch(progress.step, options.batch_size);
    TARA_ASSIGN_OR_RETURN(
        const nn::Losses losses,
        trainer.Step(batch, LearningRate(options.schedule, progress.step)));
    progress.step += 1;
    progress.samples += options.batch_size;
    skipped_in_a_row = losses.skipped ? skipped_in_a_row + 1 : 0;
    result.skipped_steps += losses.skipped;
    if (skipped_in_a_row >= options.max_skipped_steps) {
      return absl::AbortedError(absl::StrCat(
          "the losses or gradients of ", skipped_in_a_row,
          " steps in a row were not finite, up to step ", progress.step));
    }
    if (!losses.skipped) AddToMeans(losses, ++learned, result.losses);
    if (observer) observer(done, result.losses);
  }
  if (learned == 0 && options.steps > 0) {
    return absl::AbortedError(
        absl::StrCat("nothing was learned: the losses or gradients of all ",
                     options.steps, " steps were not finite"));
  }
  return result;
}

}  // namespace tara::train
