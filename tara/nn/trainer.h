#ifndef TARA_NN_TRAINER_H_
#define TARA_NN_TRAINER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tara/core/action.h"
#include "tara/core/state.h"
#include "tara/core/symmetry.h"
#include "tara/mcts/evaluator.h"
#include "tara/nn/checkpoint.h"

namespace tara {

// One training sample. Targets are for the side to move at `state`.
struct Sample {
  State state;
  Symmetry symmetry;  // a PositionSymmetry that brings the seat to move to 0
  // Share of each action, in the state's own actions; sums to 1. Empty when
  // the search's opinion is unknown: the sample then teaches no policy.
  std::vector<std::pair<Action, float>> policy;
  // +1 won, 0 drawn, -1 lost; between them, a mixture with a draw.
  float result = 0;
  int margin = 0;  // own points minus the opponent's
  // Not of a game that was resigned: the sample then teaches no margin.
  bool has_margin = true;
};

struct TrainerOptions {
  // Decoupled decay of convolutions and linear layers, per step and unit of
  // learning rate (AdamW).
  float weight_decay = 1e-2f;
  // Weight of the cross-entropy of the margin. A distribution over so many
  // margins is worth some nats: as much weight as the result's would let it
  // rule the tower.
  float margin_loss_weight = 0.1f;
  // Gradients longer than this (Euclidean norm over all weights) are shortened
  // to it: single odd batches do no harm.
  float max_gradient_norm = 4.0f;
  int threads = 2;  // of LibTorch, while learning
};

// Mean losses of a step.
struct Losses {
  double total = 0;   // policy + value + margin_loss_weight * margin
  double policy = 0;  // cross-entropy in nats, over samples that have a policy
  double value = 0;   // cross-entropy in nats of win, draw, loss
  // Cross-entropy in nats of the margins, over samples that have one.
  double margin = 0;
  // Share of samples with a policy whose most visited action has the highest
  // prior.
  double policy_accuracy = 0;
};

// A network with its optimizer (AdamW). Not thread-safe.
class Trainer {
 public:
  virtual ~Trainer() = default;

  // Learns from the batch. Returns its losses before the step, or INTERNAL
  // when LibTorch fails or a loss is not finite (the weights are then as
  // before). REQUIRES: the batch is not empty; no state is finished; policies
  // name legal actions alone.
  virtual absl::StatusOr<Losses> Step(const std::vector<Sample>& batch,
                                      double learning_rate) = 0;

  // Returns the losses of the batch as the network would play (running means
  // in its norms), and learns nothing. Errors and REQUIRES as Step.
  virtual absl::StatusOr<Losses> Measure(const std::vector<Sample>& batch) = 0;

  // Evaluates with the network under training, without folding or any other
  // haste: the simple twin of the evaluators of checkpoints.
  virtual absl::Status Evaluate(absl::Span<const State> states,
                                absl::Span<Evaluation> results) = 0;

  // Writes weights, optimizer, shape, versions and progress to one file,
  // atomically (see checkpoint.h).
  virtual absl::Status Save(const std::string& path,
                            const TrainingProgress& progress) = 0;
};

// Returns a trainer of a new network, whose weights depend on the seed alone.
std::unique_ptr<Trainer> NewTrainer(const NetworkShape& shape,
                                    const TrainerOptions& options,
                                    uint64_t seed);

// Returns a trainer that goes on exactly where the saved one stood. Errors as
// ReadCheckpoint, and DATA_LOSS when a tensor is missing or misshapen.
absl::StatusOr<std::pair<std::unique_ptr<Trainer>, TrainingProgress>>
LoadTrainer(const std::string& path, const TrainerOptions& options);

}  // namespace tara

#endif  // TARA_NN_TRAINER_H_
