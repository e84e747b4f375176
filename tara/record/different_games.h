#ifndef TARA_RECORD_DIFFERENT_GAMES_H_
#define TARA_RECORD_DIFFERENT_GAMES_H_

// Which games are one game over again. Players that never draw repeat their
// games, or play mirror images of them, and learn nothing new from it: whoever
// estimates something counts such games once (Clusters of
// tara/eval/statistics/statistics.h).

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

// Returns a number that the games of a variant which are the same up to
// symmetry have in common, and others, but for a chance of 2^-64, do not. 0 for
// a game of which nothing is known: its actions were not kept, or are damaged.
uint64_t SameGameKey(const proto::GameRecord& game);

}  // namespace tara::record

#endif  // TARA_RECORD_DIFFERENT_GAMES_H_
