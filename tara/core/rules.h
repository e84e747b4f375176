#ifndef TARA_CORE_RULES_H_
#define TARA_CORE_RULES_H_

// The rules of all variants behind four functions, and what follows from them:
// notation, validation, reasons, random walks, perft. Positions resolve forced
// events themselves: the start of Battle, seats that are out, skipped turns,
// stranded kings that are lost, the end. Callers see only seats with a legal
// action, or finished games. Successive actions may belong to one seat.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/rule_options.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"

namespace tara {

// Version of docs/reference/rules.md that the core implements. Raised when a
// game that was legal, or its result, would no longer be the same.
inline constexpr uint32_t kRulesVersion = 1;

// Returns the start position. Options that do not apply to the variant must
// have their default values (SetRuleOption sees to it).
State InitialState(Variant variant, const RuleOptions& options = {});

// Returns the legal actions of the seat to move; empty if finished.
LegalSet LegalActions(const State& state);

// Returns whether `kPass` is here the action `swap` of the pie rule
// (docs/reference/rules.md section 13).
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

// Returns the position after all forced events: in play, the same.
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

// Returns OK if play can continue from the position: it keeps the invariants
// of State, has the kings, phase, links and counters that its variant can have
// then, and is settled (the seat to move has a legal action). It need not be
// reachable, also by colours (docs/reference/rules.md section 11). Else returns
// INVALID_ARGUMENT, saying what is impossible, where, and what was expected.
absl::Status ValidatePosition(const State& state);

// Returns the rule of docs/reference/rules.md (sections 3 to 8 and 10.1) that
// forbids acting on a hill now, in a sentence: "A Red ringfort stands on D4
// already."; "" if none does. `chosen` is the king or the ringfort to link that
// was chosen before, or -1. Only the legal actions decide what is legal.
std::string WhyNot(const State& state, Hill hill, Hill chosen = -1);

// Returns the same of an action; "" also if the turn asks for another kind.
std::string WhyNot(const State& state, Action action);

// Returns which of `count` legal actions the upper half of a random number
// chooses, in the order of their indices. The same in every playout of the
// core. No action is preferred by more than count / 2^32.
// REQUIRES: count > 0.
constexpr int ChooseNth(uint64_t random, int count) {
  return static_cast<int>(((random >> 32) * static_cast<uint64_t>(count)) >>
                          32);
}

// Draws a legal action, each with the same chance, by one number of `random`.
// REQUIRES: the state is not finished.
Action RandomAction(const State& state, Random& random);

// Returns all positions with something to do of random games, which begin from
// each of `starts` in turn until there are at least `count`: of whole games, in
// their order. REQUIRES: `starts` is not empty, and none is finished.
std::vector<State> RandomPositions(absl::Span<const State> starts, size_t count,
                                   Random& random);

// Returns the number of action sequences of length `depth` from the state; a
// finished game has none. Returns any number once `stop` is true (null: never),
// which is checked often. REQUIRES: depth >= 0. Exponential in depth.
int64_t Perft(const State& state, int depth,
              const std::function<bool()>* stop = nullptr);

// Returns for each legal action the number of sequences of length `depth`
// that begin with it. REQUIRES: depth >= 1.
std::vector<std::pair<Action, int64_t>> PerftDivide(const State& state,
                                                    int depth);

}  // namespace tara

#endif  // TARA_CORE_RULES_H_
