#ifndef TARA_CORE_RULES_H_
#define TARA_CORE_RULES_H_

// The rules of all variants behind four functions. Positions resolve forced
// events themselves: the start of Battle, seats that are out, skipped turns,
// stranded kings that are lost, the end. Callers see only seats with a legal
// action, or finished games. Successive actions may belong to one seat.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
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

// Returns whether `kPass` is here the action `swap` of the pie rule: taking
// over the one action that has been played (docs/reference/rules.md section
// 13).
inline bool MaySwap(const State& state) {
  return state.options.pie_rule && state.vacant() != kAllHills;
}

// Returns whether options of the opening apply to the position: the pie rule,
// or the area of the first ringfort. The variant's own rules (tara/core/rules)
// are then incomplete.
inline bool HasOpeningOptions(const State& state) {
  const RuleOptions& options = state.options;
  if (!(options.pie_rule | (options.opening_distance != 0))) [[likely]]
    return false;
  return options.pie_rule || state.vacant() == kAllHills;
}

// Plays an action. REQUIRES: LegalActions(state).Contains(action).
void ApplyAction(Action action, State& state);

// Returns the position after all forced events. A position in play is its own
// settled position.
State Settled(const State& state);

// Plays an action from outside the program. Returns INVALID_ARGUMENT, and
// leaves the state as it is, when the action is illegal; the message says
// whose turn it is and what is legal.
absl::Status PlayAction(Action action, State& state);

// Plays an action given in notation. Errors as ParseAction and PlayAction.
absl::Status PlayAction(absl::string_view text, State& state);

// Returns the notation of an action in the position where it is played: as
// ActionToText(action), but "swap" for what is one there.
std::string ActionToText(Action action, const State& state);

// Returns the notation of actions played one after another from `state`.
// REQUIRES: each is legal where it is played.
std::vector<std::string> LineToTexts(absl::Span<const Action> line,
                                     State state);

// Returns the legal actions in notation, sorted as text by code point.
std::vector<std::string> LegalActionTexts(const State& state);

// Returns the action that `text` names in the position, legal or not. Errors of
// ParseAction; also for "swap" if it is not possible, and for "pass" if kPass
// is a swap.
absl::StatusOr<Action> ParseAction(absl::string_view text, const State& state);

// Version of docs/reference/rules.md that the core implements. Raised when a
// game that was legal, or its result, would no longer be the same.
inline constexpr uint32_t kRulesVersion = 1;

}  // namespace tara

#endif  // TARA_CORE_RULES_H_
