#ifndef TARA_EVAL_BALANCE_FIRST_ACTIONS_H_
#define TARA_EVAL_BALANCE_FIRST_ACTIONS_H_

#include <vector>

#include "tara/core/action.h"
#include "tara/core/state.h"

namespace tara::eval {

// Returns, by legal action in the order of LegalSet::ForEach, the number of its
// class, counted from 0 by first member. Two actions are in one class if a
// symmetry that leaves the position as it is maps one onto the other: the hills
// B1 and F7 are one first action of Sacred Hill.
std::vector<int> ActionClasses(const State& state);

// Returns the legal actions by class, in order of their first members.
std::vector<std::vector<Action>> ActionsByClass(const State& state);

}  // namespace tara::eval

#endif  // TARA_EVAL_BALANCE_FIRST_ACTIONS_H_
