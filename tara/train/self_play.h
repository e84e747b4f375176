#ifndef TARA_TRAIN_SELF_PLAY_H_
#define TARA_TRAIN_SELF_PLAY_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "proto/game.pb.h"
#include "tara/core/state.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/many_games.h"
#include "tara/mcts/tree.h"
#include "tara/train/stop.h"

namespace tara {

struct SelfPlayOptions {
  // Start positions: game index i starts from starts[i % size].
  std::vector<State> starts;
  SearchOptions search;
  // Actions are drawn from visits^(1/temperature) in the first
  // `temperature_plies` plies, then the most visited one is played.
  float temperature = 1.0f;
  int temperature_plies = 20;
  // Each game's randomness derives from (run_seed, game index, kSelfPlay), so
  // games do not depend on how they are spread over threads.
  uint64_t run_seed = 1;
  // What the records say of their origin.
  uint32_t generation = 0;
  std::string model_id;
  int threads = 2;
  // At most so many games are in step on a thread: their leaves make a batch.
  int games_per_thread = 32;
};

// Counts what self-play does; readable while it runs. Thread-safe.
struct SelfPlayStats : SearchCounters {
  std::atomic<int64_t> games = 0;  // finished and taken by the sink
  std::atomic<int64_t> plies = 0;  // actions played
};

// Takes a finished game. Called from several threads at once.
using GameSink = std::function<absl::Status(const proto::GameRecord&)>;

// Plays the games with the given indices, each seat by search with
// `evaluator`, and hands each to `sink` as soon as it is finished. Blocks until
// all are played, or `stop` says so: then unfinished games are dropped and the
// result is OK. Returns the first error of the evaluator or the sink.
// REQUIRES: starts is not empty; none is finished.
absl::Status PlayGames(const SelfPlayOptions& options,
                       absl::Span<const uint64_t> game_indices,
                       Evaluator& evaluator, const GameSink& sink,
                       const StopCheck& stop, SelfPlayStats& stats);

}  // namespace tara

#endif  // TARA_TRAIN_SELF_PLAY_H_
