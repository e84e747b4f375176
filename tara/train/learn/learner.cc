#include "tara/train/learn/learner.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <map>
#include <numbers>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "tara/base/clocks.h"
#include "tara/base/status_macros.h"
#include "tara/nn/light/light.h"
#include "tara/nn/torch/torch_runtime.h"

namespace tara::train {
absl::StatusOr<nn::Checkpoint> NewCheckpoint(const nn::NetworkShape& shape,
                                             uint64_t seed) {
  if (shape.kind != nn::NetworkKind::kLight)
    return nn::NewCheckpoint(shape, seed);
  TARA_RETURN_IF_ERROR(nn::CheckLightShape(shape));
  return nn::NewLightCheckpoint(shape, seed);
}

absl::StatusOr<std::unique_ptr<nn::Trainer>> MakeTrainer(
    const std::string& name, const nn::Checkpoint& checkpoint,
    const nn::TrainerOptions& options) {
  if (checkpoint.shape.kind != nn::NetworkKind::kLight) {
    return nn::MakeTrainer(name, checkpoint, options);
  }
  try {
    std::unique_ptr<nn::LightGradients> gradients;  // null: the cores compute
    if (options.cuda_device != nn::TrainerOptions::kNoCudaDevice) {
      TARA_RETURN_IF_ERROR(nn::CheckTrainerOptions(options));
      gradients = nn::NewTorchLightGradients(checkpoint.shape, options);
    }
    return nn::MakeLightTrainer(name, checkpoint, options,
                                std::move(gradients));
  } catch (const std::exception& error) {
    return nn::TorchError("making a network on learner.device",
                          "use a smaller network", error);
  }
}

absl::StatusOr<std::vector<HeldOutLosses>> MeasureHeldOut(
    const Sampler& sampler, nn::Trainer& trainer) {
  std::vector<HeldOutLosses> measured;
  for (const VariantInfo& info : kVariants) {
    const std::vector<nn::Sample> samples =
        sampler.HeldOutSamples(info.variant, kMaxHeldOutPositions);
    if (samples.size() < kMinHeldOutPositions) continue;
    TARA_ASSIGN_OR_RETURN(const nn::Losses losses, trainer.Measure(samples));
    measured.push_back({.variant = info.variant,
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

namespace {

// The batches of successive steps, in their order, prepared by threads of its
// own ahead of the one that learns; without threads, by Next().
class BatchQueue {
 public:
  // The references must outlive the queue.
  BatchQueue(const Sampler& sampler, const nn::Trainer& trainer,
             const LearnOptions& options, int64_t first_step)
      : sampler_(sampler),
        trainer_(trainer),
        options_(options),
        first_step_(first_step) {
    try {
      for (int i = 0; i < options.prepare_threads; ++i) {
        threads_.emplace_back([this] { PrepareUntilClosed(); });
      }
    } catch (const std::system_error&) {  // no more threads: fewer will do
    }
  }

  ~BatchQueue() {
    {
      const absl::MutexLock lock(&mutex_);
      closed_ = true;
    }
    for (std::thread& thread : threads_) thread.join();
  }

  // Returns the batch of the next step. REQUIRES: there is one.
  absl::StatusOr<std::unique_ptr<nn::PreparedBatch>> Next()
      ABSL_LOCKS_EXCLUDED(mutex_) {
    const absl::MutexLock lock(&mutex_);
    Prepared prepared;
    if (threads_.empty()) {
      prepared = Prepare(taken_++);
    } else {
      mutex_.Await(absl::Condition(this, &BatchQueue::HasNext));
      prepared = std::move(ready_.extract(taken_++).mapped());
    }
    times_.sample += prepared.sample;
    times_.encode += prepared.encode;
    return std::move(prepared.batch);
  }

  // `sample` and `encode` of the batches that were taken.
  LearnTimes times() const ABSL_LOCKS_EXCLUDED(mutex_) {
    const absl::MutexLock lock(&mutex_);
    return times_;
  }

 private:
  // More would only use memory.
  static constexpr int kAheadPerThread = 2;

  struct Prepared {
    absl::StatusOr<std::unique_ptr<nn::PreparedBatch>> batch;
    absl::Duration sample;
    absl::Duration encode;
  };

  Prepared Prepare(int step) const {
    Prepared prepared;
    const absl::Time begin = SteadyTime();
    prepared.batch = CatchExhaustion(
        [&]() -> absl::StatusOr<std::unique_ptr<nn::PreparedBatch>> {
          std::vector<nn::Sample> samples =
              sampler_.Batch(first_step_ + step, options_.batch_size);
          prepared.sample = SteadyTime() - begin;
          return trainer_.Prepare(std::move(samples));
        });
    prepared.encode = SteadyTime() - begin - prepared.sample;
    return prepared;
  }

  void PrepareUntilClosed() ABSL_LOCKS_EXCLUDED(mutex_) {
    mutex_.Lock();
    while (true) {
      mutex_.Await(absl::Condition(this, &BatchQueue::MayBegin));
      if (closed_ || begun_ == options_.steps) break;
      const int step = begun_++;
      mutex_.Unlock();
      Prepared prepared = Prepare(step);
      mutex_.Lock();
      ready_.emplace(step, std::move(prepared));
    }
    mutex_.Unlock();
  }

  bool MayBegin() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return closed_ || begun_ == options_.steps ||
           begun_ < taken_ + kAheadPerThread * options_.prepare_threads;
  }
  bool HasNext() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return ready_.contains(taken_);
  }

  const Sampler& sampler_;
  const nn::Trainer& trainer_;
  const LearnOptions& options_;
  const int64_t first_step_;
  mutable absl::Mutex mutex_;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  int begun_ ABSL_GUARDED_BY(mutex_) = 0;  // by the threads
  int taken_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<int, Prepared> ready_ ABSL_GUARDED_BY(mutex_);  // by step
  LearnTimes times_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

// Adds the time of a call to a sum, and returns what the call returns.
template <typename Function>
auto Timed(absl::Duration& sum, const Function& function) {
  const absl::Time begin = SteadyTime();
  auto result = function();
  sum += SteadyTime() - begin;
  return result;
}

}  // namespace

absl::StatusOr<LearnResult> Learn(const LearnOptions& options,
                                  const Sampler& sampler, nn::Trainer& trainer,
                                  nn::TrainingProgress& progress,
                                  const StopCheck& stop,
                                  const LearnObserver& observer) {
  LearnResult result;
  const int64_t first_step = progress.step;
  int read = 0;  // steps whose losses are known
  int learned = 0;
  int skipped_in_a_row = 0;
  BatchQueue batches(sampler, trainer, options, progress.step);
  // Earlier steps that are not finished.
  TARA_RETURN_IF_ERROR(trainer.FinishSteps().status());
  for (int done = 1; done <= options.steps; ++done) {
    if (stop()) {
      return absl::CancelledError("learning was interrupted");
    }
    TARA_ASSIGN_OR_RETURN(
        const std::unique_ptr<nn::PreparedBatch> batch,
        Timed(result.times.wait_for_batch, [&] { return batches.Next(); }));
    TARA_RETURN_IF_ERROR(Timed(result.times.step, [&] {
      return trainer.StartStep(*batch,
                               LearningRate(options.schedule, progress.step));
    }));
    progress.step += 1;
    progress.samples += options.batch_size;
    if (done % options.steps_per_read != 0 && done != options.steps) continue;
    TARA_ASSIGN_OR_RETURN(
        const std::vector<nn::Losses> steps,
        Timed(result.times.read, [&] { return trainer.FinishSteps(); }));
    for (const nn::Losses& losses : steps) {
      ++read;
      skipped_in_a_row = losses.skipped ? skipped_in_a_row + 1 : 0;
      result.skipped_steps += losses.skipped;
      if (skipped_in_a_row >= options.max_skipped_steps) {
        return absl::AbortedError(absl::StrCat(
            "the losses or gradients of ", skipped_in_a_row,
            " steps in a row were not finite, up to step ", first_step + read));
      }
      if (!losses.skipped) AddToMeans(losses, ++learned, result.losses);
      if (observer) observer(read, result.losses);
    }
  }
  if (learned == 0 && options.steps > 0) {
    return absl::AbortedError(
        absl::StrCat("nothing was learned: the losses or gradients of all ",
                     options.steps, " steps were not finite"));
  }
  result.times.sample = batches.times().sample;
  result.times.encode = batches.times().encode;
  return result;
}

}  // namespace tara::train
