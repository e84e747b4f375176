#ifndef TARA_CORE_GAME_BATCH_H_
#define TARA_CORE_GAME_BATCH_H_

#include <cstdint>

#include "tara/core/instruction_set.h"
#include "tara/core/playout_statistics.h"
#include "tara/core/rule_options.h"
#include "tara/core/variant.h"

namespace tara {

// Plays games first_game ... first_game + games - 1 from the start position to
// their ends with uniformly random actions, many in step, and returns what
// they came to. Each game is the one that PlayRandomGamesScalar
// (tara/core/playouts.h) plays: the same statistics on every instruction set.
//
// Thread-safe; no allocation. Best from a few hundred games a call on.
// REQUIRES: the instruction set is one of SupportedInstructionSets();
// games >= 0.
PlayoutStatistics PlayRandomGames(Variant variant, const RuleOptions& options,
                                  uint64_t seed, int64_t first_game,
                                  int64_t games,
                                  InstructionSet instruction_set);

}  // namespace tara

#endif  // TARA_CORE_GAME_BATCH_H_
