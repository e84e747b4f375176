#ifndef TARA_RECORD_DIFFERENT_GAMES_H_
#define TARA_RECORD_DIFFERENT_GAMES_H_

// Repetitions of games. Players without randomness repeat their
// games, or play mirror images of them, which add no information. Estimates
// count such games once (Clusters of tara/eval/statistics/statistics.h).

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "proto/game.pb.h"
#include "tara/core/action.h"
#include "tara/core/variant.h"

namespace tara::record {

// Returns the line that stands for all that symmetries of the game make of
// this one: the least, action by action. REQUIRES: the actions begin a game.
std::vector<Action> CanonicalLine(Variant variant,
                                  absl::Span<const Action> actions);

// Returns a number that is equal for games of a variant that are the same up to
// symmetry, and differs for others except with probability 2^-64. 0 for a game
// whose actions are missing or damaged.
uint64_t SameGameKey(const proto::GameRecord& game);

}  // namespace tara::record

#endif  // TARA_RECORD_DIFFERENT_GAMES_H_
