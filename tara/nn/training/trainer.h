#ifndef TARA_NN_TRAINING_TRAINER_H_
#define TARA_NN_TRAINING_TRAINER_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/state.h"
#include "tara/core/symmetry.h"
#include "tara/mcts/evaluator.h"
#include "tara/nn/heads.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {

// A distribution over actions: the share of each; sums to 1.
using PolicyTarget = std::vector<std::pair<Action, float>>;

// One training sample. Targets are for the side to move at `state`: "own" is
// its side; hills and actions are the state's own, before the symmetry.
struct Sample {
  State state;
  Symmetry symmetry;  // a PositionSymmetry that brings the seat to move to 0
  // Empty without a full search: the sample then has no policy target.
  PolicyTarget policy = {};
  // The policy of the opponent's next turn, in the actions of that position.
  // Empty if missing or unknown.
  PolicyTarget reply = {};
  std::array<float, 3> result = {0, 1, 0};  // of win, draw, loss; sums to 1
  int margin = 0;                           // own points minus the opponent's
  // Not of a game that was resigned: the sample then teaches no margin.
  bool has_margin = true;
  // The end of the game, where it was played to its end (has_final).
  bool has_final = false;
  Board own_hills = 0;  // ringforts of the own side
  Board enemy_hills = 0;
  int own_kingdoms = 0;
  int enemy_kingdoms = 0;
  // Of all its losses: a mean over samples is weighted by it.
  float weight = 1;
};

enum class OptimizerKind {
  kAdamW,
  kMuon,  // of the tower; AdamW of the rest
};

struct TrainerOptions {
  OptimizerKind optimizer = OptimizerKind::kAdamW;
  // Decoupled decay of convolutions and linear layers, per step and unit of
  // learning rate.
  float weight_decay = 1e-2f;
  // Weights of the heads' losses. An auxiliary head whose loss has weight 0 is
  // not computed and does not change.
  PerHead<float> loss_weights = LossWeights();
  // Above 0: the network that is measured, evaluated and saved is the average
  // of the weights over about 1 / (1 - this) steps; see
  // tara/nn/training/optimizer_torch.h.
  float ema_decay = 0;
  // Gradients longer than this (Euclidean norm over all weights) are shortened
  // to it: single odd batches do no harm. 0: they are left as they are.
  float max_gradient_norm = 4.0f;
  int threads = 2;  // of LibTorch, while learning
  // The CUDA device that learns, from 0; kNoCudaDevice: the CPU does.
  static constexpr int kNoCudaDevice = -1;
  int cuda_device = kNoCudaDevice;
  // Convolutions and linear layers compute in bfloat16; weights, norms, losses
  // and the optimizer stay float32. For GPUs with units for it.
  bool autocast = false;
  // Steps are made without reading anything back before FinishSteps, as always
  // on a CUDA device. On the CPU the results are the same up to rounding, and
  // no faster: for tests.
  bool deferred = false;
};

// Returns FAILED_PRECONDITION when LibTorch lacks the device of the options,
// listing the devices it has.
absl::Status CheckTrainerOptions(const TrainerOptions& options);

// Samples made ready for a step.
class PreparedBatch {
 public:
  explicit PreparedBatch(std::vector<Sample> samples)
      : samples(std::move(samples)) {}
  virtual ~PreparedBatch() = default;

  // Those of the batch, for a trainer that prepares nothing.
  const std::vector<Sample> samples;
};

// A network with its optimizer. Not thread-safe, except Prepare.
class Trainer {
 public:
  virtual ~Trainer() = default;

  // Learns from the batch, and returns its losses before the step. Where a
  // loss or a gradient is not finite, the step is not made: the losses are
  // marked `skipped`, and the weights, norms, averages and moments are bit for
  // bit as before. Returns INTERNAL when LibTorch fails, RESOURCE_EXHAUSTED
  // when memory does not suffice. REQUIRES: the batch is not empty; no state is
  // finished; policies name only legal actions.
  virtual absl::StatusOr<Losses> Step(const std::vector<Sample>& batch,
                                      double learning_rate) = 0;

  // Step in parts, so that batches are prepared while others are learned, and
  // nobody waits for a device. Here they do what Step does, one after the
  // other, for trainers that have none.

  // Encodes a batch. Thread-safe, also while the trainer does something else.
  // Errors and REQUIRES as Step.
  virtual absl::StatusOr<std::unique_ptr<PreparedBatch>> Prepare(
      std::vector<Sample> batch) const {
    return std::make_unique<PreparedBatch>(std::move(batch));
  }
  // Makes a step, or has a device make it. REQUIRES: this trainer, or one of
  // the same options, has prepared the batch.
  virtual absl::Status StartStep(const PreparedBatch& batch,
                                 double learning_rate) {
    absl::StatusOr<Losses> losses = Step(batch.samples, learning_rate);
    if (losses.ok()) finished_.push_back(*losses);
    return losses.status();
  }
  // Waits for the steps that were started, and returns their losses, in order.
  virtual absl::StatusOr<std::vector<Losses>> FinishSteps() {
    return std::exchange(finished_, {});
  }

  // Returns the losses of the batch as the network would play (averaged
  // weights, running means in its norms), and learns nothing. Errors and
  // REQUIRES as Step.
  virtual absl::StatusOr<Losses> Measure(const std::vector<Sample>& batch) = 0;

  // Evaluates as the network would play, without folded norms: the simple twin
  // of the evaluators of checkpoints.
  virtual absl::Status Evaluate(absl::Span<const State> states,
                                absl::Span<mcts::Evaluation> results) = 0;

  // Writes weights, optimizer, shape, versions and progress to one file,
  // atomically (see checkpoint.h); it does not depend on the device. The file
  // of a light network keeps the ranges of activations in `positions`, such as
  // the network will meet, for inference in integers; without any, evaluators
  // measure them on random games. Returns ABORTED, naming it,
  // and writes nothing where a tensor or the output for one of the positions is
  // not finite.
  virtual absl::Status Save(const std::string& path,
                            const TrainingProgress& progress,
                            absl::Span<const State> positions) = 0;
  absl::Status Save(const std::string& path, const TrainingProgress& progress) {
    return Save(path, progress, {});
  }

 protected:
  std::vector<Losses> finished_;  // of steps, until FinishSteps
};

// Returns a trainer of a new network, whose weights depend only on the seed.
// REQUIRES: CheckTrainerOptions is OK.
std::unique_ptr<Trainer> NewTrainer(const NetworkShape& shape,
                                    const TrainerOptions& options,
                                    uint64_t seed);

// Returns that network, untrained, as a checkpoint that is in no file.
absl::StatusOr<Checkpoint> NewCheckpoint(const NetworkShape& shape,
                                         uint64_t seed);

// Returns a trainer that continues exactly from the saved one, if its options
// are the same. Another optimizer, and auxiliary heads that the checkpoint
// lacks, start from scratch. Errors as ReadCheckpoint and CheckTrainerOptions,
// and DATA_LOSS when a tensor is missing or misshapen.
absl::StatusOr<std::pair<std::unique_ptr<Trainer>, TrainingProgress>>
LoadTrainer(const std::string& path, const TrainerOptions& options);

// The same from a checkpoint that is read already; errors call it `name`.
// REQUIRES: CheckFinite(checkpoint) is OK.
absl::StatusOr<std::unique_ptr<Trainer>> MakeTrainer(
    const std::string& name, const Checkpoint& checkpoint,
    const TrainerOptions& options);

}  // namespace tara::nn

#endif  // TARA_NN_TRAINING_TRAINER_H_
