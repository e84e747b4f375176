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
#include "tests/core/turn_cases.h"

namespace tara {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(RuleOptionsTest, FreeCapture) {
  // Red besieges A2. Vacant are 42 hills.
  const std::string treasures =
      "four_treasures 5/7/7/7/r6/br5/5 0 battle - 0,0 0 - ";
  // Beside Red's B2 and A3 are B1, C2, B3 and A4.
  const std::string hill =
      "sacred_hill_l1 5/7/7/7/r6/br5/5 0 battle - 0,0 0 - ";
  // South's area is ranks 1 to 4: the besieged A6 is North's to capture.
  const std::string doubles =
      "four_treasures_doubles 5/br5/r6/7/r6/br5/5 0 battle - 0,0 0 - ";
  ExpectTurns({
      {"without", treasures + "-", "", "legal A2"},
      {"the besieged may stay", treasures + "free_capture=true", "",
       "count 43; may A2"},
      {"without", hill + "-", "", "legal A2"},
      {"Level 1 may build beside its own", hill + "free_capture=true", "",
       "legal B1 A2 C2 B3 A4"},
      {"without", doubles + "-", "", "legal A2"},
      {"26 hills, without A3 and B2", doubles + "free_capture=true", "",
       "count 24"},
  });
}

TEST(RuleOptionsTest, CaptureFirst) {
  // A2 is besieged by two, and D4 is beside three.
  const std::string besieged =
      "sacred_hill_l2 5/7/7/2r1r2/r2r3/br5/5 0 battle - 0,0 0 - ";
  ExpectTurns({
      {"without", besieged + "-", "", "legal D4"},
      {"breaks the order of priorities", besieged + "capture_first=true", "",
       "legal A2"},
      {"where there is something to capture",
       "sacred_hill_l2 5/7/7/2r1r2/r2r3/1r5/5 0 battle - 0,0 0 - "
       "capture_first=true",
       "", "legal D4"},
  });
}

TEST(RuleOptionsTest, BuildApart) {
  const std::string level1 =
      "sacred_hill_l1 5/7/7/3r3/7/7/5 0 battle - 0,0 0 - ";
  const std::string lull = "sacred_hill_l2 5/7/7/3r3/7/7/5 0 battle - 0,0 0 - ";
  // E3 and D4 are beside both of Red's.
  const std::string bound =
      "sacred_hill_l2 5/7/7/4r2/3r3/7/5 0 battle - 0,0 0 - ";
  ExpectTurns({
      {"without", level1 + "-", "", "legal D3 C4 E4 D5"},
      {"Level 1 builds anywhere", level1 + "build_apart=true", "", "count 44"},
      {"but captures",
       "sacred_hill_l1 5/7/7/7/r6/br5/5 0 battle - 0,0 0 - build_apart=true",
       "", "legal A2"},
      {"without", lull + "-", "", "legal D3 C4 E4 D5"},
      {"Level 2 is free in a lull", lull + "build_apart=true", "", "count 44"},
      {"without", bound + "-", "", "legal E3 D4"},
      {"and there alone", bound + "build_apart=true", "", "legal E3 D4"},
  });
}

TEST(RuleOptionsTest, FreePass) {
  // Red cannot build, and Blue's F6 can (G4).
  const std::string text =
      "high_kings_l1 bbbbb/bBbBbBb/bbbbbbb/r1r1b2/rrrrrrR/rRrRrrr/rrrrr 0 "
      "battle - 0,0 0 - ";
  ExpectTurns({
      {"without", text + "-", "", "may_not pass"},
      {"who cannot build may pass", text + "free_pass=true", "",
       "legal B2-A4 B2-C4 D2-F1 D2-C4 G3-F1 pass"},
      {"and then", text + "free_pass=true", "pass", "legal F6-G4"},
      {"who can build must",
       "high_kings_l1 bbbbb/bBbBbBb/bbbbbbb/2r1b1b/rrrrrrr/rRrRrRr/rrrrr 0 "
       "battle - 0,0 0 - free_pass=true",
       "", "legal B2-A4"},
  });
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

TEST(RuleOptionsTest, LastTurnsOff) {
  ExpectTurns({
      // Red captures A2, Blue builds on D4, Red captures it, and Blue is out.
      // Red does not get G2: 42 to 3 ringforts in 1 and 2 kingdoms.
      {"the game is over when a seat is out",
       "sacred_hill_l1 rrrbb/rrrrrrr/rrrrrrr/rrr1rrr/rrrrrrr/brrrrrb/rrrrr 0 "
       "battle - 0,0 0 - last_turns=false",
       "A2 D4 D4", "phase finished; ended_by out; territory 42,3; points 3,0"},
      {"a pass ends High Kings",
       "high_kings_l1 bbbbb/bBbBbBb/bbbbbbb/r1r1b1b/rrrrrrr/rRrRrRr/rrrrr 0 "
       "battle - 0,0 0 - last_turns=false",
       "pass",
       "board bbbbb/bBbBbBb/bbbbbbb/r1r1b1b/rrrrrrr/rrrrrrr/rrrrr; ending "
       "passed:0"},
      {"a full board, too",
       "high_kings_l1 bbbbb/bBbBbBb/bbbbbbb/1rrbbbb/rrrrrrr/rRrRrRr/rrrrr 0 "
       "battle - 0,0 0 - last_turns=false",
       "B2-A4", "ending board_full:0"},
  });
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

TEST(RuleOptionsTest, TerritoryBreaksTies) {
  // One kingdom and no bridge each; Blue has two ringforts to one in the
  // second.
  const std::string kingdoms =
      "sacred_hill_l1 bbbbb/bbbbbbb/bbbbbbb/bbbbrrr/rrrrrrr/rrrrrrr/rrrrr - "
      "finished - 0,0 0 out:0 ";
  const std::string bridges =
      "four_treasures 5/7/7/r2b2b/7/7/5 - finished - 0,0 0 out:0 ";
  ExpectTurns({
      {"by default", kingdoms + "-", "", "points 0,3"},
      {"off", kingdoms + "territory_breaks_ties=false", "", "points 1,1"},
      {"by default", bridges + "-", "", "points 0,3"},
      {"off", bridges + "territory_breaks_ties=false", "", "points 1,1"},
  });
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
  constexpr char kHill[] = "sacred_hill_l1 opening_distance=3";
  constexpr char kPie[] = "four_treasures opening_distance=3,pie_rule=true";
  ExpectTurns({
      {"the first", kHill, "", "may_not D4"},
      {"the second", kHill, "A4", "count 44"},
      {"with a swap", kPie, "A4", "count 45; may swap"},
      {"after it", kPie, "A4 swap", "count 44"},
      {"doubles", "sacred_hill_doubles_l1 opening_distance=3", "",
       "legal A4 G4"},
      {"rank 1 and files A and G of ranks 2 to 4",
       "four_treasures_doubles opening_distance=3", "", "count 11"},
  });
}

// --- The pie rule (section 13) -----------------------------------------------

State Start(Variant variant, absl::string_view options) {
  return InitialState(variant, ParseRuleOptions(variant, options).value());
}

std::string ErrorOf(absl::string_view action, State state) {
  return std::string(PlayAction(action, state).message());
}

TEST(PieRuleTest, Seat1MayTakeOverTheFirstActionAndNobodyLater) {
  constexpr char kHill[] = "sacred_hill_l1 pie_rule=true";
  ExpectTurns({
      {"not the first", kHill, "", "may_not swap"},
      {"the second", kHill, "D4",
       "position sacred_hill_l1 5/7/7/3r3/7/7/5 1 manoeuvres - 0,0 0 - "
       "pie_rule=true; may swap"},
      {"a swap", kHill, "D4 swap",
       "position sacred_hill_l1 5/7/7/3b3/7/7/5 0 manoeuvres - 0,0 0 - -; "
       "may_not swap"},
      {"no swap", kHill, "D4 E7",
       "position sacred_hill_l1 3b1/7/7/3r3/7/7/5 0 manoeuvres - 0,0 0 - -; "
       "may_not swap"},
      {"a king goes with its ringfort", "high_kings_l1 pie_rule=true",
       "C3 swap E5",
       "position high_kings_l1 5/7/4R2/7/2B4/7/5 1 placement - 0,0 0 - -"},
      {"a king goes with its ringfort", "stone_of_destiny pie_rule=true",
       "C3 swap",
       "position stone_of_destiny 5/7/7/7/2B4/7/5 0 manoeuvres - 0,0 0 - -"},
      {"the board is turned over where rows differ",
       "poisoned_chalice pie_rule=true", "A3 swap",
       "position poisoned_chalice 5/7/7/7/7/7/1b3 0 manoeuvres - 0,0 0 - -"},
  });
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
