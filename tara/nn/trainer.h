#ifndef TARA_NN_TRAINER_H_
#define TARA_NN_TRAINER_H_
// CONTRACT (to be completed by the nn engineer). No LibTorch in this header.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tara/core/state.h"
#include "tara/core/symmetry.h"
#include "tara/mcts/evaluator.h"

namespace tara {

struct NetworkShape {
  int channels = 32;
  int blocks = 4;
};

// One training sample. Targets are for the side to move at `state`.
struct Sample {
  State state;
  Symmetry symmetry;  // a PositionSymmetry that brings the seat to move to 0
  std::vector<std::pair<Action, float>> policy;  // in the state's own actions; sums to 1; may be empty
  float result;  // +1 won, 0 drawn, -1 lost
  float margin;  // own points minus the opponent's
};

struct TrainerOptions {
  float weight_decay = 1e-4f;
  float margin_loss_weight = 0.1f;
  int threads = 2;
};

// Mean losses of a step.
struct Losses {
  double total = 0, policy = 0, value = 0, margin = 0;
  double policy_accuracy = 0;  // share of samples whose most visited action has the highest prior
};

// Where training stands; kept with the weights in one checkpoint file.
struct TrainingProgress {
  int64_t step = 0;
  int generation = 0;
  int64_t samples = 0;
};

// A network with its optimizer. Not thread-safe.
class Trainer {
 public:
  virtual ~Trainer() = default;
  virtual absl::StatusOr<Losses> Step(const std::vector<Sample>& batch, double learning_rate) = 0;
  // Writes weights, optimizer, shape, versions and progress to one file,
  // atomically (temporary file, fsync, rename, fsync of the folder).
  virtual absl::Status Save(const std::string& path, const TrainingProgress& progress) = 0;
};

std::unique_ptr<Trainer> NewTrainer(const NetworkShape&, const TrainerOptions&, uint64_t seed);
absl::StatusOr<std::pair<std::unique_ptr<Trainer>, TrainingProgress>> LoadTrainer(const std::string& path, const TrainerOptions&);

}  // namespace tara
#endif
