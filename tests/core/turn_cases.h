#ifndef TESTS_CORE_TURN_CASES_H_
#define TESTS_CORE_TURN_CASES_H_

// What the rules say of positions, as tables.

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/core/outcome.h"
#include "tests/core/core_testing.h"

namespace tara {

// A position, or its text; or a variant, for its start, and rule options.
struct CaseStart {
  CaseStart(const State& state) : state(state) {}                // NOLINT
  CaseStart(const char* text) : CaseStart(std::string(text)) {}  // NOLINT
  CaseStart(const std::string& text) {                           // NOLINT
    const std::vector<std::string> words = absl::StrSplit(text, ' ');
    if (words.size() > 2) {
      state = Position(text);
      return;
    }
    const Variant variant = ParseVariant(words[0]).value();
    state = InitialState(
        variant,
        ParseRuleOptions(variant, words.size() > 1 ? words[1] : "-").value());
  }
  State state;
};

struct TurnCase {
  const char* rule;  // for a failure
  CaseStart start;
  const char* actions;  // to play first
  // Facts of the position then, "NAME VALUE; NAME VALUE": see ExpectTurns.
  const char* facts;
};

// Expects the facts of each case: of the position's text (`position`, `board`,
// `seat`, `phase`, `captured`, `progress`, `ending`), of its legal actions
// (`legal`: all; `count`; `may` and `may_not`: some) and of its score.
inline void ExpectTurns(const std::vector<TurnCase>& cases) {
  for (const TurnCase& each : cases) {
    SCOPED_TRACE(absl::StrCat(each.rule, ": ", PositionToText(each.start.state),
                              " ", each.actions));
    const State state = After(each.start.state, each.actions);
    const std::string text = PositionToText(state);
    const std::vector<std::string> fields = absl::StrSplit(text, ' ');
    const std::vector<std::string> legal = LegalTexts(state);
    const Outcome outcome = Score(state);
    const auto pair = [](const std::array<int, 2>& by_side) {
      return absl::StrJoin(by_side, ",");
    };
    const std::map<std::string, std::string> facts = {
        {"position", text},
        {"board", fields[1]},
        {"seat", fields[2]},
        {"phase", fields[3]},
        {"captured", fields[5]},
        {"progress", fields[6]},
        {"ending", fields[7]},
        {"legal", absl::StrJoin(legal, " ")},
        {"count", absl::StrCat(legal.size())},
        {"ended_by", std::string(EndingName(outcome.ended_by))},
        {"points", pair(outcome.points)},
        {"kingdoms", pair(outcome.kingdoms)},
        {"territory", pair(outcome.territory)},
        {"bridges", pair(outcome.bridges)},
        {"kings", pair(outcome.kings_captured)}};
    for (const absl::string_view fact : absl::StrSplit(each.facts, "; ")) {
      const std::pair<std::string, std::string> expected =
          absl::StrSplit(fact, absl::MaxSplits(' ', 1));
      const auto& [name, value] = expected;
      if (name != "may" && name != "may_not") {
        EXPECT_EQ(facts.at(name), value) << name;
        continue;
      }
      for (const std::string& action :
           std::vector<std::string>(absl::StrSplit(value, ' '))) {
        EXPECT_EQ(testing::Value(legal, testing::Contains(action)),
                  name == "may")
            << action;
      }
    }
  }
}

}  // namespace tara

#endif  // TESTS_CORE_TURN_CASES_H_
