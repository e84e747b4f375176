#ifndef TARA_EVAL_ARENA_PARALLEL_ARENA_H_
#define TARA_EVAL_ARENA_PARALLEL_ARENA_H_

#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "tara/eval/arena/arena.h"
#include "tara/eval/players/player.h"

namespace tara::eval {

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
