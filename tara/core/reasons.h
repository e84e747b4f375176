#ifndef TARA_CORE_REASONS_H_
#define TARA_CORE_REASONS_H_

#include <string>

#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/state.h"

namespace tara {

// Returns the rule that forbids acting on a hill now, in a sentence:
// "A Red ringfort stands on D4 already."; "" if none does. `chosen` is the king
// or the ringfort to link that was chosen before, or -1.
//
// Only the legal actions decide what is legal: this names the rule of
// docs/reference/rules.md (sections 3 to 8 and 10.1) behind them.
std::string WhyNot(const State& state, Hill hill, Hill chosen = -1);

// Returns the same of an action, by its hills; "" also where the turn asks for
// another kind of action.
std::string WhyNot(const State& state, Action action);

}  // namespace tara

#endif  // TARA_CORE_REASONS_H_
