#include "tara/train/learner.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "absl/status/status.h"
#include "tara/base/status_macros.h"

namespace tara {
namespace {

// Moves a mean of `count` - 1 values to the mean of `count`.
void AddToMean(double value, int count, double& mean) {
  mean += (value - mean) / count;
}

}  // namespace

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

absl::StatusOr<Losses> Learn(const LearnOptions& options,
                             const Sampler& sampler, Trainer& trainer,
                             TrainingProgress& progress, const StopCheck& stop,
                             const LearnObserver& observer) {
  Losses mean;
  for (int done = 1; done <= options.steps; ++done) {
    if (stop()) {
      return absl::CancelledError("learning was interrupted");
    }
    const std::vector<Sample> batch =
        sampler.Batch(progress.step, options.batch_size);
    TARA_ASSIGN_OR_RETURN(
        const Losses losses,
        trainer.Step(batch, LearningRate(options.schedule, progress.step)));
    progress.step += 1;
    progress.samples += options.batch_size;
    AddToMean(losses.total, done, mean.total);
    AddToMean(losses.policy, done, mean.policy);
    AddToMean(losses.value, done, mean.value);
    AddToMean(losses.margin, done, mean.margin);
    AddToMean(losses.owner, done, mean.owner);
    AddToMean(losses.kingdoms, done, mean.kingdoms);
    AddToMean(losses.reply, done, mean.reply);
    AddToMean(losses.policy_accuracy, done, mean.policy_accuracy);
    if (observer) observer(done, mean);
  }
  return mean;
}

}  // namespace tara
