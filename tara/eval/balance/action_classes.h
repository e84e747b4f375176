#ifndef TARA_EVAL_BALANCE_ACTION_CLASSES_H_
#define TARA_EVAL_BALANCE_ACTION_CLASSES_H_

// Which choices are the same but for a symmetry of the game: the hills B1 and
// F7 are one first action of Sacred Hill, not two.

#include <vector>

#include "absl/types/span.h"
#include "tara/core/action.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"

namespace tara::eval {

// Returns, by legal action in the order of LegalSet::ForEach, the number of its
// class, counted from 0 by first member. Actions are of one class where a
// symmetry that leaves the position as it is takes one to the other.
std::vector<int> ActionClasses(const State& state);

// Returns the line that stands for all that symmetries of the game make of
// this one: the least, action by action. REQUIRES: the actions begin a game.
std::vector<Action> CanonicalLine(Variant variant,
                                  absl::Span<const Action> actions);

}  // namespace tara::eval

#endif  // TARA_EVAL_BALANCE_ACTION_CLASSES_H_
