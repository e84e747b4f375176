// The rule options of docs/reference/rules.md section 13: compensation and the
// pie rule. Games of an independent implementation: golden_test.cc.

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/core/drawing.h"
#include "tara/core/outcome.h"
#include "tara/core/position_text.h"
#include "tara/core/rules.h"
#include "tara/core/symmetry.h"
#include "tara/core/validate.h"
#include "tests/core/core_testing.h"

namespace tara {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

State Start(Variant variant, absl::string_view options) {
  return InitialState(variant, ParseRuleOptions(variant, options).value());
}

std::string ErrorOf(absl::string_view action, State state) {
  return std::string(PlayAction(action, state).message());
}

// --- The pie rule ------------------------------------------------------------

TEST(PieRuleTest, Seat1MayTakeOverTheFirstActionAndNobodyLater) {
  const State start = Start(Variant::kSacredHillL1, "pie_rule=true");
  EXPECT_THAT(LegalTexts(start), Not(Contains("swap")));
  const State one = After(start, "D4");
  EXPECT_THAT(LegalTexts(one), Contains("swap"));
  EXPECT_EQ(PositionToText(one),
            "sacred_hill_l1 5/7/7/3r3/7/7/5 1 manoeuvres - 0,0 0 - "
            "pie_rule=true");
  const State swapped = After(one, "swap");
  EXPECT_EQ(PositionToText(swapped),
            "sacred_hill_l1 5/7/7/3b3/7/7/5 0 manoeuvres - 0,0 0 - -");
  const State two = After(one, "E7");
  EXPECT_EQ(two, After(Variant::kSacredHillL1, "D4 E7"));
  for (const State& state : {swapped, two}) {
    EXPECT_THAT(LegalTexts(state), Not(Contains("swap")));
  }
}

TEST(PieRuleTest, AKingGoesWithItsRingfort) {
  EXPECT_EQ(PositionToText(After(Start(Variant::kHighKingsL1, "pie_rule=true"),
                                 "C3 swap E5")),
            "high_kings_l1 5/7/4R2/7/2B4/7/5 1 placement - 0,0 0 - -");
  EXPECT_EQ(PositionToText(After(
                Start(Variant::kStoneOfDestiny, "pie_rule=true"), "C3 swap")),
            "stone_of_destiny 5/7/7/7/2B4/7/5 0 manoeuvres - 0,0 0 - -");
}

TEST(PieRuleTest, TheBoardIsTurnedOverWhereRowsDiffer) {
  const State one =
      After(Start(Variant::kPoisonedChalice, "pie_rule=true"), "A3");
  EXPECT_EQ(PositionToText(After(one, "swap")),
            "poisoned_chalice 5/7/7/7/7/7/1b3 0 manoeuvres - 0,0 0 - -");
}

TEST(PieRuleTest, SwapAndPassAreOneIndexWithTwoNames) {
  const State one = After(Start(Variant::kHighKingsL1, "pie_rule=true"), "D4");
  EXPECT_TRUE(LegalActions(one).Contains(kPass));
  EXPECT_EQ(ActionToText(kPass, one), "swap");
  EXPECT_EQ(ActionToText(kPass, After(one, "swap")), "pass");
  EXPECT_EQ(ParseAction("SWAP", one).value(), kPass);
  EXPECT_THAT(ErrorOf("pass", one), HasSubstr("expected a hill or 'swap'"));
  EXPECT_THAT(ErrorOf("swap", After(one, "C3")),
              HasSubstr("it is Blue's first action alone"));
  EXPECT_THAT(ErrorOf("swap", InitialState(Variant::kFourTreasures)),
              HasSubstr("where the rule option pie_rule is true"));
  EXPECT_THAT(LineToTexts({HillAction(22), kPass, HillAction(3)},
                          Start(Variant::kFourTreasures, "pie_rule=true")),
              ElementsAre("D4", "swap", HillToText(3)));
}

TEST(PieRuleTest, PositionsThatHaveItAfterTheSecondActionAreRefused) {
  const auto error = [](absl::string_view text) {
    return std::string(ParsePosition(text).status().message());
  };
  EXPECT_THAT(error("four_treasures 5/7/7/3b3/7/2r4/5 0 battle - 0,0 0 - "
                    "pie_rule=true"),
              HasSubstr("pie_rule is true with 2 ringforts on the board"));
  EXPECT_THAT(error("four_treasures_doubles 5/7/7/7/7/7/5 0 battle - 0,0 0 - "
                    "pie_rule=true"),
              HasSubstr("has no rule option 'pie_rule'"));
}

class TwoSeatsTest : public ::testing::TestWithParam<VariantInfo> {};

// Whoever swaps is where the other one was.
TEST_P(TwoSeatsTest, ASwapIsTheSamePositionWithTheColoursExchanged) {
  const State start = Start(GetParam().variant, "pie_rule=true");
  LegalActions(start).ForEach([&](Action first) {
    State state = start;
    ApplyAction(first, state);
    State swapped = state;
    ApplyAction(kPass, swapped);
    EXPECT_EQ(ValidatePosition(swapped), absl::OkStatus());
    EXPECT_EQ(Settled(swapped), swapped);
    State expected = TransformState(CanonicalSymmetry(state), state);
    expected.options.pie_rule = false;
    EXPECT_EQ(swapped, expected);
  });
}

TEST_P(TwoSeatsTest, LegalActionsKeepToTheSymmetriesWithASwapAhead) {
  const State start = Start(GetParam().variant, "pie_rule=true");
  LegalActions(start).ForEach([&](Action first) {
    State state = start;
    ApplyAction(first, state);
    for (const Symmetry& symmetry : PositionSymmetries(state.variant)) {
      const State image = TransformState(symmetry, state);
      EXPECT_EQ(ValidatePosition(image), absl::OkStatus());
      LegalMask expected;
      LegalActions(state).ForEach([&](Action action) {
        expected.set(Index(TransformAction(symmetry, action)));
      });
      EXPECT_EQ(LegalActions(image).ToMask(), expected);
    }
  });
}

std::vector<VariantInfo> VariantsOfTwoSeats() {
  std::vector<VariantInfo> variants;
  for (const VariantInfo& info : kVariants) {
    if (info.seats == 2) variants.push_back(info);
  }
  return variants;
}

INSTANTIATE_TEST_SUITE_P(All, TwoSeatsTest,
                         ::testing::ValuesIn(VariantsOfTwoSeats()),
                         VariantTestName);

// --- Compensation ------------------------------------------------------------

TEST(CompensationTest, DecidesWhoWinsByAMargin) {
  EXPECT_EQ(ResultOfMargin(3, 5), 1);  // 3 against 2.5
  EXPECT_EQ(ResultOfMargin(2, 5), -1);
  EXPECT_EQ(ResultOfMargin(2, 4), 0);
  EXPECT_EQ(ResultOfMargin(-2, -5), 1);
  EXPECT_EQ(ResultOfMargin(-2, -4), 0);
  for (int halves = -24; halves <= 24; ++halves) {
    for (const int points : {1, 2}) {
      for (const Side side : {kRed, kBlue}) {
        const int sign = side == kRed ? 1 : -1;
        const int margin = MarginOfLead(side, points, halves);
        const int lead = sign * (2 * margin - halves);  // in half points
        EXPECT_GE(lead, 2 * points);
        EXPECT_LT(lead - 2, 2 * points);
      }
    }
  }
}

TEST(CompensationTest, ChangesTheWinnerAndNothingElse) {
  for (const VariantInfo& info : kVariants) {
    const State plain = InitialState(info.variant);
    const State given = Start(info.variant, "compensation=-2.5");
    PlayRandomGame(plain, 1, [&](const State& state, const LegalSet& legal) {
      State other = state;
      other.options = given.options;
      EXPECT_EQ(LegalActions(other).ToMask(), legal.ToMask());
      Outcome expected = Score(state);
      expected.compensation_halves = -5;
      EXPECT_EQ(Score(other), expected);
      EXPECT_EQ(Score(other).result(), Score(state).margin() > -2.5 ? 1 : -1);
    });
  }
}

TEST(CompensationTest, IsOfTheOtherSideWhenTheColoursAreExchanged) {
  const State state =
      After(Start(Variant::kFourTreasures, "compensation=2.5"), "D4");
  const State turned = TransformState(CanonicalSymmetry(state), state);
  EXPECT_EQ(turned.options.compensation_halves, -5);
  // What it is worth to whoever moves stays the same.
  for (int margin = -5; margin <= 5; ++margin) {
    EXPECT_EQ(ResultForMover(turned, margin), ResultForMover(state, margin));
  }
}

TEST(CompensationTest, IsSaidWithTheResult) {
  EXPECT_THAT(DescribeState(Start(Variant::kFourTreasures, "compensation=2.5")),
              HasSubstr("Blue is given 2.5 points."));
  EXPECT_EQ(CompensationText(-3), " and -1.5 of compensation");
}

}  // namespace
}  // namespace tara
