#ifndef TARA_EVAL_PLAYOUTS_MASS_PLAYOUTS_H_
#define TARA_EVAL_PLAYOUTS_MASS_PLAYOUTS_H_

#include <cstdint>
#include <functional>

#include "tara/core/playout_statistics.h"

namespace tara::eval {

// Plays games first_game ... first_game + games - 1 of an infinite sequence.
// The result depends on nothing else. Thread-safe.
using PlayChunk =
    std::function<PlayoutStatistics(int64_t first_game, int64_t games)>;

// Receives the number of finished games, on any thread and possibly on several
// at once; returns whether to continue.
using MassProgressCallback = std::function<bool(int64_t games_done)>;

// Plays games 0 ... games - 1, in chunks that `threads` threads share, and
// returns their statistics. These do not depend on the number of threads.
// When on_progress returns false, chunks in progress are completed, so that
// long games are as likely to count as short ones; `games` of the result is the
// number of games played. REQUIRES: games >= 0; threads > 0.
PlayoutStatistics PlayRandomGames(int64_t games, int threads,
                                  const PlayChunk& play_chunk,
                                  const MassProgressCallback& on_progress = {});

}  // namespace tara::eval

#endif  // TARA_EVAL_PLAYOUTS_MASS_PLAYOUTS_H_
