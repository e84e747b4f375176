#ifndef TARA_CLI_PLAY_RULES_H_
#define TARA_CLI_PLAY_RULES_H_

// The rules as `tara play` explains them: docs/reference/rules.md in short.

#include <string>

#include "absl/strings/string_view.h"
#include "tara/core/action.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"

namespace tara::cli {

// Returns how a game is won, in a sentence or two.
absl::string_view AimOf(Variant variant);

// Returns the rule that the turn goes by: "Link: join two ...".
// REQUIRES: the game is not finished.
std::string RuleOfTurn(const State& state);

// Returns why an action is illegal, in a sentence: "A Red ringfort stands on D4
// already."; at least the rule that the turn goes by.
// REQUIRES: the action is illegal and the game is not finished.
std::string WhyIllegal(Action action, const State& state);

// Returns what DrawBoard's signs mean, in a line or two.
std::string KeyOfSigns(Variant variant, bool unicode);

}  // namespace tara::cli

#endif  // TARA_CLI_PLAY_RULES_H_
