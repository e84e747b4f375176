// The rule options of docs/reference/rules.md section 10.1 that no family's
// test has: what each changes, in positions made for it. That games in lanes
// keep to them too: batch_test.cc, playouts_test.cc; that symmetries do:
// symmetry_test.cc; to which variants they apply: docs/rules_tables_test.cc.

#include "tara/core/rule_options.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/core/drawing.h"
#include "tara/core/outcome.h"
#include "tara/core/position_text.h"
#include "tara/core/rules.h"
#include "tara/core/symmetry.h"
#include "tests/core/core_testing.h"

namespace tara {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

// The position of a text whose last field, the options, is left out.
State With(absl::string_view options, absl::string_view text) {
  return Position(absl::StrCat(text, " ", options));
}

// --- free_capture ------------------------------------------------------------

// Red besieges A2. Vacant are 42 hills.
TEST(FreeCaptureTest, ABesiegedSingleMayStayInFourTreasures) {
  const absl::string_view besieged =
      "four_treasures 5/7/7/7/r6/br5/5 0 battle - 0,0 0 -";
  EXPECT_THAT(LegalTexts(With("-", besieged)), ElementsAre("A2"));
  const std::vector<std::string> free =
      LegalTexts(With("free_capture=true", besieged));
  EXPECT_THAT(free, SizeIs(43));
  EXPECT_THAT(free, Contains("A2"));
}

// Beside Red's B2 and A3 are B1, C2, B3 and A4.
TEST(FreeCaptureTest, Level1MayBuildBesideItsOwnInstead) {
  const absl::string_view besieged =
      "sacred_hill_l1 5/7/7/7/r6/br5/5 0 battle - 0,0 0 -";
  EXPECT_THAT(LegalTexts(With("-", besieged)), ElementsAre("A2"));
  EXPECT_THAT(LegalTexts(With("free_capture=true", besieged)),
              ElementsAre("B1", "A2", "C2", "B3", "A4"));
}

// South's area is ranks 1 to 4: the besieged A6 is North's to capture.
TEST(FreeCaptureTest, InDoublesItIsAboutTheOwnArea) {
  const absl::string_view besieged =
      "four_treasures_doubles 5/br5/r6/7/r6/br5/5 0 battle - 0,0 0 -";
  EXPECT_THAT(LegalTexts(With("-", besieged)), ElementsAre("A2"));
  // 26 hills, without A3 and B2.
  EXPECT_THAT(LegalTexts(With("free_capture=true", besieged)), SizeIs(24));
}

// --- capture_first -----------------------------------------------------------

// A2 is besieged by two, and D4 is beside three.
TEST(CaptureFirstTest, BreaksTheOrderOfPrioritiesInLevel2) {
  const absl::string_view besieged =
      "sacred_hill_l2 5/7/7/2r1r2/r2r3/br5/5 0 battle - 0,0 0 -";
  EXPECT_THAT(LegalTexts(With("-", besieged)), ElementsAre("D4"));
  EXPECT_THAT(LegalTexts(With("capture_first=true", besieged)),
              ElementsAre("A2"));
  EXPECT_THAT(
      LegalTexts(With("capture_first=true",
                      "sacred_hill_l2 5/7/7/2r1r2/r2r3/1r5/5 0 battle - 0,0 "
                      "0 -")),
      ElementsAre("D4"));
}

// --- build_apart -------------------------------------------------------------

TEST(BuildApartTest, Level1BuildsAnywhereInBattle) {
  const absl::string_view one =
      "sacred_hill_l1 5/7/7/3r3/7/7/5 0 battle - 0,0 0 -";
  EXPECT_THAT(LegalTexts(With("-", one)), ElementsAre("D3", "C4", "E4", "D5"));
  EXPECT_THAT(LegalTexts(With("build_apart=true", one)), SizeIs(44));
  EXPECT_THAT(LegalTexts(With("build_apart=true",
                              "sacred_hill_l1 5/7/7/7/r6/br5/5 0 battle - 0,0 "
                              "0 -")),
              ElementsAre("A2"));
}

TEST(BuildApartTest, Level2IsFreeInALullAlone) {
  const absl::string_view lull =
      "sacred_hill_l2 5/7/7/3r3/7/7/5 0 battle - 0,0 0 -";
  EXPECT_THAT(LegalTexts(With("-", lull)), ElementsAre("D3", "C4", "E4", "D5"));
  EXPECT_THAT(LegalTexts(With("build_apart=true", lull)), SizeIs(44));
  // E3 and D4 are beside both of Red's.
  const absl::string_view bound =
      "sacred_hill_l2 5/7/7/4r2/3r3/7/5 0 battle - 0,0 0 -";
  for (const char* options : {"-", "build_apart=true"}) {
    EXPECT_THAT(LegalTexts(With(options, bound)), ElementsAre("E3", "D4"));
  }
}

// --- free_pass ---------------------------------------------------------------

// Red cannot build, and Blue's F6 can (G4).
TEST(FreePassTest, WhoCannotBuildMayPassWhileTheEnemyCan) {
  const absl::string_view text =
      "high_kings_l1 bbbbb/bBbBbBb/bbbbbbb/r1r1b2/rrrrrrR/rRrRrrr/rrrrr 0 "
      "battle - 0,0 0 -";
  EXPECT_THAT(LegalTexts(With("-", text)), Not(Contains("pass")));
  const State free = With("free_pass=true", text);
  EXPECT_THAT(LegalTexts(free),
              ElementsAre("B2-A4", "B2-C4", "D2-F1", "D2-C4", "G3-F1", "pass"));
  EXPECT_THAT(LegalTexts(After(free, "pass")), ElementsAre("F6-G4"));
}

TEST(FreePassTest, WhoCanBuildMust) {
  EXPECT_THAT(LegalTexts(With("free_pass=true",
                              "high_kings_l1 bbbbb/bBbBbBb/bbbbbbb/2r1b1b/"
                              "rrrrrrr/rRrRrRr/rrrrr 0 battle - 0,0 0 -")),
              ElementsAre("B2-A4"));
}

// Decision 6 has no case left: who can neither build nor go back may pass.
TEST(FreePassTest, NoTurnIsSkipped) {
  const RuleOptions options = {.free_pass = true};
  for (const Variant variant : {Variant::kHighKingsL1, Variant::kHighKingsL2}) {
    for (uint64_t seed = 0; seed < 3000; ++seed) {
      int seat = 0;
      PlayRandomGame(InitialState(variant, options), seed,
                     [&](const State& state, const LegalSet&) {
                       if (state.finished()) return;
                       EXPECT_EQ(state.seat, seat);
                       seat = 1 - seat;
                     });
    }
  }
}

// --- last_turns --------------------------------------------------------------

// Red captures A2, Blue builds on D4, Red captures it, and Blue is out. Red
// does not get G2: 42 to 3 ringforts in 1 and 2 kingdoms.
TEST(LastTurnsTest, OffTheGameIsOverWhenASeatIsOut) {
  const State end = After(With("last_turns=false",
                               "sacred_hill_l1 rrrbb/rrrrrrr/rrrrrrr/rrr1rrr/"
                               "rrrrrrr/brrrrrb/rrrrr 0 battle - 0,0 0 -"),
                          "A2 D4 D4");
  EXPECT_TRUE(end.finished());
  const Outcome outcome = Score(end);
  EXPECT_EQ(outcome.ended_by, Ending::kOut);
  EXPECT_THAT(outcome.territory, ElementsAre(42, 3));
  EXPECT_THAT(outcome.points, ElementsAre(3, 0));
}

TEST(LastTurnsTest, OffAPassAndAFullBoardEndHighKings) {
  const State passed =
      After(With("last_turns=false",
                 "high_kings_l1 bbbbb/bBbBbBb/bbbbbbb/r1r1b1b/rrrrrrr/rRrRrRr/"
                 "rrrrr 0 battle - 0,0 0 -"),
            "pass");
  EXPECT_TRUE(passed.finished());
  EXPECT_EQ(passed.ending, Ending::kPassed);
  EXPECT_EQ(Count(passed.kings[kBlue]), 3);
  const State full =
      After(With("last_turns=false",
                 "high_kings_l1 bbbbb/bBbBbBb/bbbbbbb/1rrbbbb/rrrrrrr/rRrRrRr/"
                 "rrrrr 0 battle - 0,0 0 -"),
            "B2-A4");
  EXPECT_TRUE(full.finished());
  EXPECT_EQ(full.ending, Ending::kBoardFull);
}

TEST(LastTurnsTest, OffNoGameEverHasTurnsLeft) {
  for (const VariantInfo& info : kVariants) {
    RuleOptions options;
    if (!SetRuleOption(info.variant, "last_turns", "false", options).ok()) {
      continue;
    }
    for (uint64_t seed = 0; seed < 50; ++seed) {
      PlayRandomGame(InitialState(info.variant, options), seed,
                     [](const State& state, const LegalSet&) {
                       EXPECT_EQ(state.ending == Ending::kNone,
                                 !state.finished());
                       EXPECT_EQ(ValidatePosition(state), absl::OkStatus());
                     });
    }
  }
}

TEST(LastTurnsTest, OffPositionsWithTurnsLeftAreRefused) {
  EXPECT_THAT(ParsePosition("sacred_hill_l1 rrrbb/rrrrrrr/rrrrrrr/rrrrrrr/"
                            "rrrrrrr/rrrrrrb/rrrrr 0 battle - 0,0 0 out:1 "
                            "last_turns=false")
                  .status()
                  .message(),
              HasSubstr("1 turns left after out; expected none with "
                        "last_turns=false"));
}

// --- territory_breaks_ties ---------------------------------------------------

// One kingdom and no bridge each; Blue has two ringforts to one in the second.
TEST(TerritoryTest, OffEqualKingdomsOrBridgesAreOnePointEach) {
  const absl::string_view kingdoms =
      "sacred_hill_l1 bbbbb/bbbbbbb/bbbbbbb/bbbbrrr/rrrrrrr/rrrrrrr/rrrrr - "
      "finished - 0,0 0 out:0";
  EXPECT_THAT(Score(With("-", kingdoms)).points, ElementsAre(0, 3));
  EXPECT_THAT(Score(With("territory_breaks_ties=false", kingdoms)).points,
              ElementsAre(1, 1));
  const absl::string_view bridges =
      "four_treasures 5/7/7/r2b2b/7/7/5 - finished - 0,0 0 out:0";
  EXPECT_THAT(Score(With("-", bridges)).points, ElementsAre(0, 3));
  EXPECT_THAT(Score(With("territory_breaks_ties=false", bridges)).points,
              ElementsAre(1, 1));
}

TEST(TerritoryTest, OffItMattersWhereKingdomsOrBridgesAreEqualAlone) {
  for (const VariantInfo& info : kVariants) {
    int ties = 0;
    for (uint64_t seed = 0; seed < 100; ++seed) {
      PlayRandomGame(
          InitialState(info.variant), seed,
          [&](const State& state, const LegalSet&) {
            if (!state.finished()) return;
            State other = state;
            other.options.territory_breaks_ties = false;
            const Outcome usual = Score(state);
            const Outcome outcome = Score(other);
            const auto& counts = info.family == Family::kFourTreasures
                                     ? usual.bridges
                                     : usual.kingdoms;
            if (counts[kRed] != counts[kBlue] ||
                usual.ended_by == Ending::kDoubleCapture) {
              EXPECT_EQ(outcome, usual) << info.id;
            } else {
              EXPECT_THAT(outcome.points, ElementsAre(1, 1)) << info.id;
              ++ties;
            }
          });
    }
    EXPECT_GT(ties, 0) << info.id;
  }
}

// --- opening_distance --------------------------------------------------------

TEST(OpeningDistanceTest, TheFirstRingfortKeepsAwayFromTheCentre) {
  // 45 hills without D4; without the 9 around it; without these 25.
  for (const auto& [distance, hills] : std::vector<std::pair<int, size_t>>{
           {0, 45}, {1, 44}, {2, 36}, {3, 20}}) {
    for (const VariantInfo& info : kVariants) {
      RuleOptions options;
      if (info.seats == 4 || !SetRuleOption(info.variant, "opening_distance",
                                            absl::StrCat(distance), options)
                                  .ok()) {
        continue;
      }
      EXPECT_THAT(LegalTexts(InitialState(info.variant, options)),
                  SizeIs(hills))
          << info.id;
    }
  }
}

TEST(OpeningDistanceTest, OnlyTheFirstActionOfTheGameIsConcerned) {
  RuleOptions options = {.opening_distance = 3};
  State state = InitialState(Variant::kSacredHillL1, options);
  EXPECT_THAT(std::string(PlayAction("D4", state).message()),
              HasSubstr("illegal action D4"));
  state = After(state, "A4");
  EXPECT_THAT(LegalTexts(state), SizeIs(44));
  options.pie_rule = true;
  state = After(InitialState(Variant::kFourTreasures, options), "A4");
  EXPECT_THAT(LegalTexts(state), SizeIs(45));
  EXPECT_THAT(LegalTexts(state), Contains("swap"));
  EXPECT_THAT(LegalTexts(After(state, "swap")), SizeIs(44));
}

TEST(OpeningDistanceTest, InDoublesItLeavesHillsOfTheFirstSeat) {
  const RuleOptions options = {.opening_distance = 3};
  EXPECT_THAT(LegalTexts(InitialState(Variant::kSacredHillDoublesL1, options)),
              ElementsAre("A4", "G4"));
  // Rank 1 and files A and G of ranks 2 to 4.
  EXPECT_THAT(LegalTexts(InitialState(Variant::kFourTreasuresDoubles, options)),
              SizeIs(11));
}

// --- The pie rule (section 13) -----------------------------------------------

State Start(Variant variant, absl::string_view options) {
  return InitialState(variant, ParseRuleOptions(variant, options).value());
}

std::string ErrorOf(absl::string_view action, State state) {
  return std::string(PlayAction(action, state).message());
}

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
              HasSubstr("only Blue's first action can be a swap"));
  EXPECT_THAT(ErrorOf("swap", InitialState(Variant::kFourTreasures)),
              HasSubstr("with the rule option pie_rule"));
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
