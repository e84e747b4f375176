#ifndef TARA_CORE_RULES_H_
#define TARA_CORE_RULES_H_

// The rules of all variants behind four functions. A position resolves by
// itself all that is no choice: Battle starting, out, skipped turns, stranded
// kings lost, the end. A caller only meets seats that have a legal action, or
// a finished game. Successive actions may belong to one seat.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tara/core/action.h"
#include "tara/core/rule_options.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"

namespace tara {

// Returns the start position. Options that do not apply to the variant must
// have their default values (SetRuleOption sees to it).
State InitialState(Variant variant, const RuleOptions& options = {});

// Returns the legal actions of the seat to move; empty if finished.
LegalSet LegalActions(const State& state);

// Plays an action. REQUIRES: LegalActions(state).Contains(action).
void ApplyAction(Action action, State& state);

// Returns the position after everything that is no choice has been resolved.
// A position met in play is its own settled position.
State Settled(const State& state);

// Plays an action from outside the program. Returns INVALID_ARGUMENT, and
// leaves the state as it is, when the action is illegal; the message says
// whose turn it is and what is legal.
absl::Status PlayAction(Action action, State& state);

// Plays an action given in notation. Errors as ParseAction and PlayAction.
absl::Status PlayAction(absl::string_view text, State& state);

// Version of docs/reference/rules.md that the core implements. Raised when a
// game that was legal, or its result, would no longer be the same.
inline constexpr uint32_t kRulesVersion = 1;

}  // namespace tara

#endif  // TARA_CORE_RULES_H_
