#ifndef TARA_CORE_GAME_BATCH_H_
#define TARA_CORE_GAME_BATCH_H_

#include <cstdint>

#include "absl/types/span.h"
#include "tara/core/instruction_set.h"
#include "tara/core/playout_statistics.h"
#include "tara/core/rule_options.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"

namespace tara {

// Plays games first_game ... first_game + games - 1 from the start position to
// their ends with uniformly random actions, many games in lockstep, and returns
// their statistics. Each game is the one that PlayRandomGamesByPublicRules
// (tara/core/playouts.h) plays: the same statistics on every instruction set.
//
// Thread-safe; no allocation. Best from a few hundred games a call on.
// REQUIRES: the instruction set is one of SupportedInstructionSets();
// games >= 0.
PlayoutStatistics PlayRandomGames(Variant variant, const RuleOptions& options,
                                  uint64_t seed, int64_t first_game,
                                  int64_t games,
                                  InstructionSet instruction_set);

// Plays `playouts` uniformly random games from each of the positions, which may
// be of any variants, with any options, at any phase, many games in lockstep.
// Writes Red's margin of the i-th game from starts[k] to margins[k * playouts +
// i]: that of the very game that PlayRandomGamesFromScalar
// (tara/core/playouts.h) plays with seeds[k], on every instruction set.
//
// Thread-safe. Positions of one variant with the same options are played
// together: the more games, the better the lanes are filled.
// REQUIRES: as PlayRandomGames; playouts > 0; one seed per position; no
// position is finished.
void PlayRandomGamesFrom(absl::Span<const State> starts,
                         absl::Span<const uint64_t> seeds, int playouts,
                         InstructionSet instruction_set,
                         absl::Span<int8_t> margins);

// The same games by the fastest method for their number: in lanes of the
// best instruction set, or by the scalar core if they are few.
void PlayRandomGamesFrom(absl::Span<const State> starts,
                         absl::Span<const uint64_t> seeds, int playouts,
                         absl::Span<int8_t> margins);

}  // namespace tara

#endif  // TARA_CORE_GAME_BATCH_H_
