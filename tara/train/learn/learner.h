#ifndef TARA_TRAIN_LEARN_LEARNER_H_
#define TARA_TRAIN_LEARN_LEARNER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tara/base/threads.h"
#include "tara/core/variant.h"
#include "tara/nn/heads.h"
#include "tara/nn/training/trainer.h"
#include "tara/nn/weights/checkpoint.h"
#include "tara/train/learn/sampler.h"

namespace tara::train {

// Trainers for all kinds of network, with the same contracts:
// tara/nn/training/trainer.h for towers, tara/nn/light/light.h for light
// networks.

absl::StatusOr<nn::Checkpoint> NewCheckpoint(const nn::NetworkShape& shape,
                                             uint64_t seed);
// INTERNAL or RESOURCE_EXHAUSTED when the device fails.
absl::StatusOr<std::unique_ptr<nn::Trainer>> MakeTrainer(
    const std::string& name, const nn::Checkpoint& checkpoint,
    const nn::TrainerOptions& options);

// Minimum number of held-out positions of a variant to measure: about two
// games.
inline constexpr int kMinHeldOutPositions = 64;
// The most: they are measured after each generation.
inline constexpr int kMaxHeldOutPositions = 512;

// Losses on positions of one variant that are never learned from.
struct HeldOutLosses {
  Variant variant;
  int64_t positions = 0;  // that were measured
  nn::Losses losses;
};

// Measures the network on the held-out positions of the sampler's window, by
// variant; variants with too few of them are left out. Learns nothing. Errors
// as Trainer::Measure.
absl::StatusOr<std::vector<HeldOutLosses>> MeasureHeldOut(
    const Sampler& sampler, nn::Trainer& trainer);

// Returns the mean over variants, each with the same weight. All are zero
// without any.
nn::Losses MeanLosses(const std::vector<HeldOutLosses>& by_variant);

struct LearningRateSchedule {
  double peak = 0.003;
  int64_t warmup_steps = 50;
  int64_t total_steps = 1000;  // of the whole run
  double final_fraction = 0.1;
};

// Returns the learning rate of a step (from 0): rises linearly to the peak over
// the warm-up, then falls along a half cosine,
//   peak * (f + (1 - f) * (1 + cos(pi * t)) / 2),
// with f the final fraction and t the share of the steps after warm-up that
// are done, in [0, 1]; stays at f * peak after the last step.
double LearningRate(const LearningRateSchedule& schedule, int64_t step);

struct LearnOptions {
  LearningRateSchedule schedule;
  int batch_size = 256;
  int steps = 100;  // to learn now
  // Number of skipped steps in a row after which learning has diverged.
  int max_skipped_steps = 10;
  // Threads that draw and encode batches ahead; 0: the caller does, before each
  // step. The batches are the same.
  int prepare_threads = 0;
  // Steps between two reads of the losses, when a device must finish all its
  // work.
  int steps_per_read = 1;
};

// Where the time of learning goes.
struct LearnTimes {
  // Sums over all threads that prepare batches.
  absl::Duration sample;  // drawing positions, and replaying their games
  absl::Duration encode;
  // Times of the learning thread.
  absl::Duration wait_for_batch;  // preparing it, without threads that do
  absl::Duration step;            // making steps, or starting them
  absl::Duration read;            // waiting for the device
};

struct LearnResult {
  nn::Losses losses;  // means over the steps that were made
  int skipped_steps = 0;
  LearnTimes times;
};

// Called for each step, once its losses are read, with the steps done and the
// mean losses so far.
using LearnObserver = std::function<void(int steps, const nn::Losses& mean)>;

// Learns `options.steps` steps from the sampler's window, from step
// `progress.step` on, and counts steps and samples in `progress`. Returns
// CANCELLED, with the weights somewhere between, when `stop` is true; ABORTED
// when max_skipped_steps in a row, or all of the steps, were skipped, as their
// losses were not finite; or the trainer's error. With steps_per_read above 1,
// more steps than that may have been made by then.
absl::StatusOr<LearnResult> Learn(const LearnOptions& options,
                                  const Sampler& sampler, nn::Trainer& trainer,
                                  nn::TrainingProgress& progress,
                                  const StopCheck& stop,
                                  const LearnObserver& observer = {});

}  // namespace tara::train

#endif  // TARA_TRAIN_LEARN_LEARNER_H_
