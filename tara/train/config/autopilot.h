#ifndef TARA_TRAIN_CONFIG_AUTOPILOT_H_
#define TARA_TRAIN_CONFIG_AUTOPILOT_H_

// Chooses how many threads play and how many games each has in step, by how
// fast the network is. The games are the same, whatever it chooses.

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "proto/config.pb.h"
#include "tara/core/state.h"
#include "tara/mcts/evaluator.h"

namespace tara::train {

struct AutopilotChoice {
  int threads = 1;
  int games_per_thread = 1;

  friend bool operator==(const AutopilotChoice&,
                         const AutopilotChoice&) = default;
};

struct AutopilotLimits {
  int cores = 1;
  // Of a generation: no thread has more in step than its part of them.
  int games = 200;
  // The threads that ask compute themselves: more of them than cores bring
  // nothing.
  bool on_cpu = true;
};

// Measures the evaluations a second of so many threads together, each in
// batches of so many positions.
using MeasureRate =
    std::function<absl::StatusOr<double>(int threads, int batch)>;

// Chooses by the rates that `measure` returns alone: tries 8, 16, 32, ...
// games a thread, for all numbers of threads that may pay, and takes the least
// games in step that reach 98 % of the best rate. More games in step begin
// later ones later and take memory. A batch is taken to be three quarters of
// the games: some leaves are the same, and some wait for the next batch, so
// that this one is of a size that suits (Evaluator::batch_multiple). Returns
// the first error of `measure`. REQUIRES: cores, games >= 1.
absl::StatusOr<AutopilotChoice> ChooseBatches(const AutopilotLimits& limits,
                                              const MeasureRate& measure);

// Returns a measurement of an evaluator on positions of random games; each
// takes about a tenth of a second, by the clock.
MeasureRate MeasureEvaluator(mcts::Evaluator& evaluator,
                             absl::Span<const State> starts);

// Fills in self_play.threads and .games_per_thread where self_play.autopilot
// says so: with those of the config in the run's folder, if there is one, so
// that a run that goes on is the same, and else by some measurements with a
// network of the run's shape. REQUIRES: the config is resolved.
absl::Status ApplyAutopilot(proto::TrainConfig& config);

}  // namespace tara::train

#endif  // TARA_TRAIN_CONFIG_AUTOPILOT_H_
