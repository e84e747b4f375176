#ifndef TARA_EVAL_REGRET_SOLVED_SET_H_
#define TARA_EVAL_REGRET_SOLVED_SET_H_

// Solved endgames in a file: solving takes long, and players are compared on
// the same positions, today's checkpoint and that of next month. JSON lines:
//
//   {"tara_solved_endgames": 1, "positions": 200}       how many lines follow
//   {"position": "four_treasures rb...", "margins": [3, -1, 3]}
//
// A position is in its text form (tara/core/position_text.h); margins are as
// in SolvedPosition.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tara/eval/regret/regret.h"

namespace tara::eval {

// Writes the file, or replaces it, atomically. Errors name it.
absl::Status WriteSolvedSet(const std::string& path,
                            absl::Span<const SolvedPosition> positions);

// Returns the positions of a file, in its order. Returns NOT_FOUND if there is
// none, FAILED_PRECONDITION for a file of another kind or version, DATA_LOSS
// for one that is cut short or damaged; all name the file, and the line.
absl::StatusOr<std::vector<SolvedPosition>> ReadSolvedSet(
    const std::string& path);

}  // namespace tara::eval

#endif  // TARA_EVAL_REGRET_SOLVED_SET_H_
