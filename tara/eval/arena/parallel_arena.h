#ifndef TARA_EVAL_ARENA_PARALLEL_ARENA_H_
#define TARA_EVAL_ARENA_PARALLEL_ARENA_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "tara/eval/arena/arena.h"
#include "tara/eval/arena/arena_openings.h"
#include "tara/eval/arena/arena_result.h"
#include "tara/eval/players/player.h"
#include "tara/eval/statistics/sprt.h"

namespace tara::eval {

// A series of games to play: a game by itself, or those of a match.
struct ArenaSeries {
  int series = 0;  // 2 * pair, and one more where B starts the series
  std::vector<Opening> openings;  // of its games
};

// What is played next in an arena, and what came of it: what all of its
// threads have in common. Series are handed out in order, and sequential tests
// see the pairs in order, too, so that neither the number of threads nor which
// games are short has a say in what a test decides. Thread-safe.
class ArenaSchedule {
 public:
  // REQUIRES: options that CheckArenaOptions finds possible.
  explicit ArenaSchedule(const ArenaOptions& options);

  // Returns the next series that has not been played, or nullopt when there is
  // none or all is decided. Returns the error of drawing openings.
  absl::StatusOr<std::optional<ArenaSeries>> Next();

  // Notes a finished game and hands it to options.on_game. Returns its error.
  absl::Status Add(const ArenaGame& game);

  // Whether the sequential test has decided: games under way count no more.
  bool decided() const;
  ArenaProgress progress() const;

  // Returns the result of the openings all of whose pairs are whole; with a
  // sequential test that has decided, of those that it saw until then.
  ArenaResult Result() const;

 private:
  void Count(const ArenaGame& game) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const ArenaOptions options_;
  const int per_series_;         // games
  const int pairs_per_opening_;  // with the same openings
  const int pairs_;
  mutable absl::Mutex mutex_;
  Openings openings_ ABSL_GUARDED_BY(mutex_);
  // By series, those of earlier runs.
  std::map<int, int> earlier_games_ ABSL_GUARDED_BY(mutex_);
  int next_pair_ ABSL_GUARDED_BY(mutex_) = 0;
  // The second series of a pair that has been begun.
  std::optional<ArenaSeries> second_ ABSL_GUARDED_BY(mutex_);
  // Of the latest pair, for the others that share them.
  std::vector<Opening> latest_openings_ ABSL_GUARDED_BY(mutex_);
  std::map<int, std::vector<ArenaGame>> games_ ABSL_GUARDED_BY(mutex_);
  int games_done_ ABSL_GUARDED_BY(mutex_) = 0;
  double points_ ABSL_GUARDED_BY(mutex_) = 0;
  std::optional<Sprt> sprt_ ABSL_GUARDED_BY(mutex_);
  int tested_pairs_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Makes one more player of a kind. Thread-safe: players are not, so that each
// thread makes its own.
using PlayerFactory = std::function<absl::StatusOr<std::unique_ptr<Player>>()>;

// As PlayArena, with threads that take series from one schedule. The result
// does not depend on how many there are (unless it is stopped early), if all
// players that a factory makes play alike: networks in one number type.
// `on_progress` is told of all threads' games, from any of them and from
// several at once. Returns the first error of PlayArena or of making a player.
// REQUIRES: threads > 0.
absl::StatusOr<ArenaResult> PlayArenaInParallel(
    const ArenaOptions& options, const PlayerFactory& make_a,
    const PlayerFactory& make_b, int threads,
    const ArenaProgressCallback& on_progress = {});

}  // namespace tara::eval

#endif  // TARA_EVAL_ARENA_PARALLEL_ARENA_H_
