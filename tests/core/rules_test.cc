// What users meet around the rules: refusals, options, names.

#include "tara/core/rules.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/core/rule_options.h"
#include "tests/core/core_testing.h"

namespace tara {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(PlayActionTest, RefusesAnIllegalActionAndSaysWhatIsLegal) {
  State state = After(Variant::kSacredHillL1, "D4 B3");
  const State before = state;
  const absl::Status status = PlayAction("D5", state);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "illegal action D5 in sacred_hill_l1, phase manoeuvres, for Red; "
            "legal: C2 E2 F3 B5 F5 C6 E6");
  EXPECT_EQ(state, before);
}

TEST(PlayActionTest, RefusesActionsAfterTheEnd) {
  State state =
      Position("four_treasures 5/7/7/r2b2b/7/7/5 - finished - 0,0 0 out:0 -");
  EXPECT_EQ(PlayAction("D4", state).message(),
            "illegal action D4: the game has ended (out)");
}

TEST(PlayActionTest, RefusesWhatIsNoAction) {
  State state = InitialState(Variant::kHighKingsL1);
  EXPECT_THAT(PlayAction("D9", state).message(), HasSubstr("bad action 'D9'"));
}

TEST(SettledTest, ResolvesWhatIsNoChoice) {
  // A full board in Manoeuvres of Stone of Destiny is the start of Battle.
  State state = Position(
      "stone_of_destiny bbbbb/bbbbbBb/bbbbbbb/rrrrbbb/rrrrrrr/rRrrrrr/rrrrr 1 "
      "battle - 0,0 0 - -");
  const State battle = state;
  state.phase = Phase::kManoeuvres;
  EXPECT_EQ(Settled(state), battle);
  EXPECT_EQ(Settled(battle), battle);
}

TEST(VariantTest, ParsesEveryIdentifierAndRefusesOthers) {
  for (const VariantInfo& info : kVariants) {
    EXPECT_EQ(ParseVariant(info.id).value(), info.variant);
  }
  EXPECT_THAT(
      ParseVariant("chess").status().message(),
      AllOf(HasSubstr("unknown variant 'chess'"), HasSubstr("sacred_hill_l1"),
            HasSubstr("stone_of_destiny")));
}

TEST(RuleOptionsTest, TextRoundTrips) {
  const std::string text = "no_progress_limit=12,placement_captures_kings=true";
  const RuleOptions options =
      ParseRuleOptions(Variant::kHighKingsL2, text).value();
  EXPECT_EQ(options.no_progress_limit, 12);
  EXPECT_TRUE(options.placement_captures_kings);
  EXPECT_EQ(FormatRuleOptions(options), text);
  EXPECT_EQ(FormatRuleOptions(RuleOptions()), "-");
  EXPECT_EQ(ParseRuleOptions(Variant::kHighKingsL2, "-").value(),
            RuleOptions());
}

TEST(RuleOptionsTest, SaysWhatWasExpected) {
  struct Case {
    Variant variant;
    const char* text;
    const char* message;
  };
  for (const Case& bad : {
           Case{Variant::kHighKingsL1, "no_progress_limit=0",
                "rule option no_progress_limit: bad value '0'; expected 1 to "
                "255"},
           Case{Variant::kHighKingsL1, "no_progress_limit=many",
                "bad value 'many'"},
           Case{Variant::kHighKingsL1, "placement_captures_kings=maybe",
                "expected true or false"},
           Case{Variant::kHighKingsL1, "proximity_bound=4",
                "variant high_kings_l1 has no rule option 'proximity_bound'; "
                "it has: no_progress_limit, placement_captures_kings"},
           Case{Variant::kFourTreasures, "speed=4",
                "it has: compensation, pie_rule, free_capture, last_turns, "
                "territory_breaks_ties, opening_distance"},
           Case{Variant::kFourTreasuresDoubles, "pie_rule=true",
                "it has: compensation, free_capture, last_turns, "
                "territory_breaks_ties, opening_distance"},
           Case{Variant::kFourTreasures, "compensation=0.3",
                "bad value '0.3'; expected -12 to 12 in steps of 0.5"},
           Case{Variant::kFourTreasures, "compensation=12.5",
                "bad value '12.5'; expected -12 to 12 in steps of 0.5"},
           Case{Variant::kFourTreasures, "compensation=nan", "bad value"},
           Case{Variant::kSacredHillL1, "proximity_bound=6", "expected 1 to 5"},
           Case{Variant::kSacredHillL2, "opening_distance=4",
                "bad value '4'; expected 0 to 3"},
           Case{Variant::kSacredHillL1, "shared_row_opening=false",
                "no rule option 'shared_row_opening'"},
           Case{Variant::kSacredHillL1, "proximity_bound",
                "expected name=value"},
           Case{Variant::kFourTreasures, "compensation=1,compensation=1",
                "rule option compensation is given twice"},
       }) {
    EXPECT_THAT(ParseRuleOptions(bad.variant, bad.text).status().message(),
                HasSubstr(bad.message));
  }
}

// Every option is documented, in range by default and written as it is read.
// Switches share bytes: setting one must leave the others.
TEST(RuleOptionsTest, TheListIsConsistent) {
  for (const RuleOptionInfo& option : kRuleOptions) {
    EXPECT_FALSE(option.help.empty());
    EXPECT_GE(option.DefaultValue(), option.min_value);
    EXPECT_LE(option.DefaultValue(), option.max_value);
    const int other = option.DefaultValue() == option.max_value
                          ? option.min_value
                          : option.max_value;
    RuleOptions options;
    option.set(options, other);
    EXPECT_EQ(option.get(options), other);
    EXPECT_EQ(
        FormatRuleOptions(options),
        absl::StrCat(option.name, "=", FormatRuleOptionValue(option, other)));
  }
}

}  // namespace
}  // namespace tara
