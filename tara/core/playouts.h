#ifndef TARA_CORE_PLAYOUTS_H_
#define TARA_CORE_PLAYOUTS_H_

#include <cstdint>

#include "absl/types/span.h"
#include "tara/core/playout_statistics.h"
#include "tara/core/random_action.h"
#include "tara/core/rule_options.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"

namespace tara {

// Plays games first_game ... first_game + games - 1 from the start position to
// their ends with uniformly random actions, ply by ply through LegalActions and
// ApplyAction, and returns what they came to. Game i draws one number for each
// ply, also where only one action is legal, from the stream
// DeriveSeed(seed, i, StreamPurpose::kPlayouts). The simple twin of
// PlayRandomGames (tara/core/game_batch.h).
PlayoutStatistics PlayRandomGamesByPublicRules(Variant variant,
                                               const RuleOptions& options,
                                               uint64_t seed,
                                               int64_t first_game,
                                               int64_t games);

// Plays margins.size() games from a position to their ends with uniformly
// random actions, and writes Red's margin of each. Game i draws one number for
// each ply, also where only one action is legal, from the stream
// DeriveSeed(seed, i, StreamPurpose::kPlayouts).
//
// Compiled for each variant, two games by turns on one core. Its simple twin is
// PlayRandomGamesFromByPublicRules; which plays where options of the opening
// concern the position, here and in tara/core/game_batch.h. REQUIRES: the
// position is not finished.
void PlayRandomGamesFromScalar(const State& start, uint64_t seed,
                               absl::Span<int8_t> margins);

// The same through LegalActions and ApplyAction, ply by ply: what every faster
// way of playing the same games is tested against.
void PlayRandomGamesFromByPublicRules(const State& start, uint64_t seed,
                                      absl::Span<int8_t> margins);

}  // namespace tara

#endif  // TARA_CORE_PLAYOUTS_H_
