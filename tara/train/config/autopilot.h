#ifndef TARA_TRAIN_CONFIG_AUTOPILOT_H_
#define TARA_TRAIN_CONFIG_AUTOPILOT_H_

// Chooses the number of threads for self-play and of concurrent games per
// thread by the speed of the network. The choice does not change the games.

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
  // Games of a generation: a thread has at most its share of them in lockstep.
  int games = 200;
  // Whether the threads compute evaluations themselves, so that more threads
  // than cores do not help.
  bool on_cpu = true;
};

// Measures the evaluations per second of that many threads together, each with
// batches of that many positions.
using MeasureRate =
    std::function<absl::StatusOr<double>(int threads, int batch)>;

// Chooses by the rates of `measure` alone: tries 8, 16, 32, ... games per
// thread for all numbers of threads that may pay, and takes the smallest number
// of concurrent games that reaches 98 % of the best rate. More concurrent games
// delay later ones and take memory. A batch is assumed to be three quarters of
// the games: some leaves are equal, and some wait for the next batch, so that
// this one has a suitable size (Evaluator::batch_multiple). Returns the first
// error of `measure`. REQUIRES: cores, games >= 1.
absl::StatusOr<AutopilotChoice> ChooseBatches(const AutopilotLimits& limits,
                                              const MeasureRate& measure);

// Returns a measurement of an evaluator on positions of random games; each
// takes about a tenth of a second, by the clock.
MeasureRate MeasureEvaluator(mcts::Evaluator& evaluator,
                             absl::Span<const State> starts);

// Fills in self_play.threads and .games_per_thread if self_play.autopilot is
// set: with the values of the config in the run's folder, if any, so that a
// resumed run is the same; otherwise by some measurements with a network of the
// run's shape. REQUIRES: the config is resolved.
absl::Status ApplyAutopilot(proto::TrainConfig& config);

}  // namespace tara::train

#endif  // TARA_TRAIN_CONFIG_AUTOPILOT_H_
