#ifndef TARA_TRAIN_PLAY_SELF_PLAY_H_
#define TARA_TRAIN_PLAY_SELF_PLAY_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "proto/game.pb.h"
#include "tara/base/threads.h"
#include "tara/core/state.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/options/search_options.h"
#include "tara/mcts/search/many_games.h"
#include "tara/train/play/game_plan.h"

namespace tara::train {

// Where the time of self-play goes, in nanoseconds. Thread-safe.
struct SelfPlayTimes : mcts::SearchTimes {
  std::atomic<int64_t> solve = 0;    // of `gather`: the endgame solver
  std::atomic<int64_t> workers = 0;  // of all threads, from start to end
  // Of the thread that was busy for longest: the others waited for it.
  std::atomic<int64_t> longest_worker = 0;
};

struct ResignationOptions {
  // A side resigns when its root value has been at most this value, from -1
  // (certainly lost) to 0, for that many of its own turns in a row. No value:
  // nobody resigns.
  std::optional<float> threshold = {};
  int turns = 3;
  // The share of games that are played to the end anyway, to measure how often
  // resigning would have been wrong. Source: Silver et al. 2017 (Nature 550),
  // Methods, "Self-play".
  float played_on_share = 0.1f;
};

// Watches one game, from its first turn to its end.
class ResignationWatch {
 public:
  // `seed` decides whether the game is played on. It is that of the stream (run
  // seed, game index, StreamPurpose::kResignation), which does not depend on
  // who plays the game, and when. REQUIRES: there is a threshold; turns >= 1.
  ResignationWatch(const ResignationOptions& options, uint64_t seed);

  // Takes the root value of a turn's search, for the side to move, in [-1, 1].
  // Returns whether that side resigns now: never if the game is played on.
  bool Observe(Side side, float root_value);

  bool played_on() const { return played_on_; }
  // The side that would have resigned first, if any.
  std::optional<Side> loser() const { return loser_; }

 private:
  const ResignationOptions options_;
  const bool played_on_;
  std::array<int, 2> bad_turns_ = {};  // of each side, in a row
  std::optional<Side> loser_;
};

struct SelfPlayOptions {
  // Start positions: game index i starts from starts[start_of(i)]; from
  // starts[i % size] if that is empty. Called from several threads.
  std::vector<State> starts;
  std::function<int(uint64_t game_index)> start_of = {};
  // drawn[i]: the rule options that are drawn for each game from starts[i] and
  // replace the start's own. Empty: none.
  std::vector<std::vector<DrawnOption>> drawn = {};

  // Options of a full search. Workers set its solver, each its own, if
  // solver_vacant_hills is positive; it solves no position with more vacant
  // hills than pays in its variant (SolvableVacantHills).
  mcts::SearchOptions search;
  // Playout cap randomization: the share of turns with a full search. The
  // others have a fast one, without noise and forced playouts, which is not a
  // policy target. 1: all.
  float full_search_share = 1;
  int fast_simulations = 20;

  // Actions are drawn from visits^(1/temperature). With a Gumbel root, a full
  // search plays the action it ends with (its noise has sampled from the
  // improved policy already), and only fast ones draw, from improved policy.
  float temperature = 1;  // of the first plies; then the best is played
  int temperature_plies = 20;

  ResignationOptions resignation = {};

  // Which games begin with random actions.
  OpeningOptions opening = {};

  // Each game's randomness derives from (run_seed, game index, kSelfPlay), so
  // games do not depend on how they are spread over threads.
  uint64_t run_seed = 1;
  // The origin that the records have.
  uint32_t generation = 0;
  std::string model_id;

  int threads = 2;
  // Maximum concurrent games per thread, whose leaves make a batch.
  int games_per_thread = 32;
  // As ManyGamesOptions; of these only leaves_per_game changes the games.
  int leaves_per_game = 1;
  int evaluation_groups = 1;

  // To be added to; null: times are not measured.
  SelfPlayTimes* times = nullptr;

  // Called once, from any thread, when no game is left to be started: some of
  // the places for games are empty from then on. May be empty.
  std::function<void()> on_all_started = {};
};

// Counts what self-play does; readable while it runs. Thread-safe.
struct SelfPlayStats : mcts::SearchCounters {
  std::atomic<int64_t> games = 0;          // finished and taken by the sink
  std::atomic<int64_t> plies = 0;          // actions played
  std::atomic<int64_t> full_searches = 0;  // of the searches for these
  // Positions that a batch of the running call can hold, at most.
  std::atomic<int64_t> batch_room = 0;
  // Share of the evaluations answered by a cache; set by who owns one.
  std::atomic<double> cached_share = 0;
  // Share of the threads' time spent on evaluations, waiting for a device
  // included; set by who measures it.
  std::atomic<double> evaluate_share = 0;
  // Share of the positions played that are different; set by who counts them.
  std::atomic<double> distinct_share = 0;
  // Of games that are over: simulations that ended where other lines had been
  // (graph_search), and leaves that the solver answered.
  std::atomic<int64_t> caught_up = 0;
  std::atomic<int64_t> solved = 0;
  // Resigned games; games played on to monitor resignation; the ones among them
  // that would have been resigned; and of these, the ones that the resigning
  // side did not lose.
  std::atomic<int64_t> resigned = 0;
  std::atomic<int64_t> played_on = 0;
  std::atomic<int64_t> resignable = 0;
  std::atomic<int64_t> resignable_not_lost = 0;
};

// Every counter, in the order in which the nodes of a fleet send their counts.
inline constexpr std::atomic<int64_t> SelfPlayStats::* kSelfPlayCounters[] = {
    &SelfPlayStats::simulations,  &SelfPlayStats::evaluations,
    &SelfPlayStats::known,        &SelfPlayStats::batches,
    &SelfPlayStats::left_waiting, &SelfPlayStats::games,
    &SelfPlayStats::plies,        &SelfPlayStats::full_searches,
    &SelfPlayStats::caught_up,    &SelfPlayStats::solved,
    &SelfPlayStats::resigned,     &SelfPlayStats::played_on,
    &SelfPlayStats::resignable,   &SelfPlayStats::resignable_not_lost,
};

// Takes a finished game. Called from several threads at once.
using GameSink = std::function<absl::Status(const proto::GameRecord&)>;

// Plays the games with the given indices, each seat by search with `evaluator`,
// and hands each to `sink` as soon as it is finished. Blocks until all are
// played, or `stop` is true: then unfinished games are dropped and the result
// is OK. Returns the first error of the evaluator or the sink.
// REQUIRES: starts is not empty; none is finished; drawn is empty or parallel
// to it.
absl::Status PlayGames(const SelfPlayOptions& options,
                       absl::Span<const uint64_t> game_indices,
                       mcts::Evaluator& evaluator, const GameSink& sink,
                       const StopCheck& stop, SelfPlayStats& stats);

// Whether a record can be that of the game with its index, by these options:
// OK, or INVALID_ARGUMENT, naming what differs of its seed, start, opening and
// origin. Its actions are not searched again, nor replayed (ValidateRecord).
absl::Status CheckPlayedBy(const SelfPlayOptions& options,
                           const proto::GameRecord& game);

// Counts how many of the positions that games were played for are different:
// self-play that repeats itself teaches little. Symmetric positions are one.
// Positions of openings do not count. Thread-safe.
class DistinctPositions {
 public:
  // Errors as Replay (game_record.h).
  absl::Status Add(const proto::GameRecord& game) ABSL_LOCKS_EXCLUDED(mutex_);

  // Returns the distinct ones' share of all; 0 before the first.
  double share() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  mutable absl::Mutex mutex_;
  absl::flat_hash_set<uint64_t> hashes_ ABSL_GUARDED_BY(mutex_);
  int64_t positions_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace tara::train

#endif  // TARA_TRAIN_PLAY_SELF_PLAY_H_
