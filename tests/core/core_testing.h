#ifndef TESTS_CORE_CORE_TESTING_H_
#define TESTS_CORE_CORE_TESTING_H_

// What the tests of the core share.

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tara/base/check.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/position_text.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"

namespace tara {

// Returns the position of a text that must parse.
inline State Position(absl::string_view text) {
  const absl::StatusOr<State> state = ParsePosition(text);
  if (!state.ok()) {
    ADD_FAILURE() << text << ": " << state.status().message();
    return InitialState(Variant::kSacredHillL1);
  }
  return *state;
}

// Returns the position after actions, separated by spaces, that must be legal.
inline State After(State state, absl::string_view actions) {
  std::string rest(actions);
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(' '), rest.size());
    const absl::Status played = PlayAction(rest.substr(0, end), state);
    if (!played.ok()) {
      ADD_FAILURE() << played.message();
      return state;
    }
    rest.erase(0, end + 1);
  }
  return state;
}

inline State After(Variant variant, absl::string_view actions) {
  return After(InitialState(variant), actions);
}

// Returns options that differ from their defaults wherever the variant has one.
inline RuleOptions ChangedOptions(const VariantInfo& variant) {
  RuleOptions options;
  for (const RuleOptionInfo& option : kRuleOptions) {
    if (!option.applies_to(variant)) continue;
    option.set(options, option.DefaultValue() == option.min_value
                            ? option.max_value
                            : option.min_value);
  }
  return options;
}

// Returns the same without those of the opening, which keep games from the
// start out of the lanes.
inline RuleOptions ChangedOptionsOfLanes(const VariantInfo& variant) {
  RuleOptions options = ChangedOptions(variant);
  options.pie_rule = false;
  options.opening_distance = 0;
  return options;
}

// Returns options that differ from their defaults in one alone: each that the
// variant has, at its six least values and the largest.
inline std::vector<RuleOptions> EachRuleOption(const VariantInfo& variant) {
  std::vector<RuleOptions> all;
  for (const RuleOptionInfo& option : kRuleOptions) {
    if (!option.applies_to(variant)) continue;
    for (int value = option.min_value; value <= option.max_value; ++value) {
      if (value > option.min_value + 5) value = option.max_value;
      option.set(all.emplace_back(), value);
    }
  }
  return all;
}

// Returns the legal actions as text, in the order of their indices.
inline std::vector<std::string> LegalTexts(const State& state) {
  std::vector<std::string> texts;
  LegalActions(state).ForEach(
      [&](Action action) { texts.push_back(ActionToText(action, state)); });
  return texts;
}

// Returns the hills written as "D4 E4" as a board.
inline Board Hills(absl::string_view text) {
  Board board = 0;
  for (size_t i = 0; i + 2 <= text.size(); i += 3) {
    board |= BoardOf(ParseHill(text.substr(i, 2)).value());
  }
  return board;
}

// Plays a random game; calls visit(state, legal) at every position, the
// finished one too, and returns the actions.
//
// Every third game prefers the last legal actions (sacrifices, passes), which
// makes rare endings frequent.
template <typename Visitor>
std::vector<Action> PlayRandomGame(State state, uint64_t seed,
                                   Visitor&& visit) {
  Random random(DeriveSeed(seed, 0, StreamPurpose::kTest));
  std::vector<Action> actions;
  while (true) {
    const LegalSet legal = LegalActions(state);
    visit(state, legal);
    if (state.finished()) return actions;
    const int count = legal.Count();
    TARA_CHECK(count > 0, "a seat to move has a legal action");
    int n = static_cast<int>(random.Below(static_cast<uint32_t>(count)));
    if (seed % 3 == 0 && random.Below(2) == 0) n = count - 1;
    const Action action = legal.Nth(n);
    actions.push_back(action);
    ApplyAction(action, state);
  }
}

// Names the tests of a suite over kVariants.
inline std::string VariantTestName(
    const ::testing::TestParamInfo<VariantInfo>& info) {
  return std::string(info.param.id);
}

// So that a failure prints the variant's identifier.
inline void PrintTo(const VariantInfo& info, std::ostream* out) {
  *out << info.id;
}

}  // namespace tara

#endif  // TESTS_CORE_CORE_TESTING_H_
