#ifndef TARA_TRAIN_PLAY_SELF_PLAY_SPEED_H_
#define TARA_TRAIN_PLAY_SELF_PLAY_SPEED_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "tara/base/stop.h"
#include "tara/mcts/evaluator.h"
#include "tara/train/play/self_play.h"

namespace tara::train {

struct SelfPlaySpeedOptions {
  SelfPlayOptions self_play;  // its `times` are not used
  int games = 128;            // of a generation
  // Generations are played, whole ones, until this is over.
  double seconds = 10;
  int64_t cache_positions = 1 << 16;  // as CachingEvaluator; 0: no cache
  bool symmetric_cache = true;
  // The evaluator's work is done by the threads that ask, so that time is that
  // of the processor. Else time is that of day.
  bool on_cpu = true;
};

// How fast self-play is, beside the bare evaluator. Rates are those of all
// threads together, by the time of the thread that was busy for longest.
struct SelfPlaySpeed {
  // The evaluator alone, on as many threads, in batches of its best size.
  double engine_evaluations_per_s = 0;
  int engine_batch = 0;
  // Positions that the evaluator computed for the games.
  double evaluations_per_s = 0;
  double simulations_per_s = 0;
  // Simulations that the searches had when their actions were chosen: with
  // those that the tree kept from the turn before.
  double search_simulations_per_s = 0;
  double games_per_s = 0;
  double ratio = 0;         // of evaluations_per_s and engine_evaluations_per_s
  double mean_batch = 0;    // positions of a call of the evaluator
  double cached_share = 0;  // of the positions that the searches asked for
  double solved_share = 0;  // of the simulations
  int64_t games = 0;
  double seconds = 0;  // of self-play

  // Parts of the threads' time; they sum to 1.
  struct Shares {
    double engine = 0;    // the network itself
    double encoding = 0;  // positions into its inputs
    double filling = 0;   // its outputs into evaluations
    double tree = 0;
    double cache = 0;
    double solver = 0;
    double playing = 0;  // choosing and recording actions, beginning games
    double waiting = 0;  // for the thread that had games for longest
    double other = 0;
  } shares;
};

// Plays generations of games and, on the same threads by turns of a twentieth
// of a second, measures the bare evaluator and what stands around the network.
// Returns the first error of the evaluator. Where `stop` is true, it measures
// what was played by then. REQUIRES: games >= 1.
absl::StatusOr<SelfPlaySpeed> MeasureSelfPlaySpeed(
    const SelfPlaySpeedOptions& options, mcts::Evaluator& evaluator,
    const StopCheck& stop);

}  // namespace tara::train

#endif  // TARA_TRAIN_PLAY_SELF_PLAY_SPEED_H_
