// Sacred Hill, singles and doubles (docs/reference/rules.md sections 2 to 5),
// in positions that random play seldom reaches.

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/core/outcome.h"
#include "tara/core/rule_options.h"
#include "tests/core/core_testing.h"

namespace tara {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

// Decision 1: the squared distance to every friendly ringfort is at least 5.
// Knight's moves from D4: C2 E2 B3 F3 B5 F5 C6 E6; Blue took B3.
TEST(SacredHillTest, ManoeuvresNeedAKnightsMoveAndNothingNearer) {
  const State one = After(Variant::kSacredHillL1, "D4 B3");
  EXPECT_THAT(LegalTexts(one),
              ElementsAre("C2", "E2", "F3", "B5", "F5", "C6", "E6"));
  // With E6 too: C6 is two steps along a line from E6, F5 diagonal to it; of
  // E6's knight's moves C5 is diagonal to D4, F4 two steps along a line, and
  // C7 and G5 are far enough.
  EXPECT_THAT(LegalTexts(After(one, "E6 A5")),
              ElementsAre("C2", "E2", "F3", "B5", "G5", "C7"));
}

// Without a bound every vacant hill a knight's move away is good: from D4 and
// E6 also C5, F4, F5 and C6.
TEST(SacredHillTest, OptionProximityBoundLetsHillsBeNearer) {
  RuleOptions options;
  ASSERT_EQ(
      SetRuleOption(Variant::kSacredHillL1, "proximity_bound", "1", options),
      absl::OkStatus());
  const State start = InitialState(Variant::kSacredHillL1, options);
  EXPECT_THAT(
      LegalTexts(After(start, "D4 B3 E6 A5")),
      ElementsAre("C2", "E2", "F3", "F4", "B5", "C5", "F5", "G5", "C6", "C7"));
}

TEST(SacredHillTest, Level1MustCaptureABesiegedSingle) {
  EXPECT_THAT(LegalTexts(Position("sacred_hill_l1 5/7/7/7/r6/br5/5 0 battle "
                                  "- 0,0 0 - -")),
              ElementsAre("A2"));
  EXPECT_THAT(LegalTexts(Position("sacred_hill_l1 5/7/7/7/r5r/br3rb/5 0 "
                                  "battle - 0,0 0 - -")),
              ElementsAre("A2", "G2"));
}

TEST(SacredHillTest, Level1BuildsBesideItsOwnElseAnywhere) {
  EXPECT_THAT(LegalTexts(Position("sacred_hill_l1 5/7/7/3r3/7/7/5 0 battle - "
                                  "0,0 0 - -")),
              ElementsAre("D3", "C4", "E4", "D5"));
  // Red's A2 is walled in: any of the 40 vacant hills, the besieged G2 too.
  const State walled =
      Position("sacred_hill_l1 5/7/7/7/b5b/rb3b1/5 0 battle - 0,0 0 - -");
  EXPECT_THAT(LegalTexts(walled), SizeIs(40));
  EXPECT_TRUE(LegalActions(walled).Contains(ParseAction("G2").value()));
}

// Red captures A2; Blue builds on the last vacant hill, D4, and Red captures
// it; now Blue, with only the pair E7, F7, is out and Red has one more turn.
// 43 Red ringforts and 2 Blue, one kingdom each: 2 + 41 points.
TEST(SacredHillTest, OutGivesTheOtherSideOneMoreTurn) {
  const State start = Position(
      "sacred_hill_l1 rrrbb/rrrrrrr/rrrrrrr/rrr1rrr/rrrrrrr/brrrrrb/rrrrr 0 "
      "battle - 0,0 0 - -");
  EXPECT_THAT(LegalTexts(start), ElementsAre("A2", "G2"));
  const State closing = After(start, "A2 D4 D4");
  EXPECT_EQ(closing.seat, 0);
  EXPECT_EQ(closing.ending, Ending::kOut);
  EXPECT_EQ(closing.turns_left, 1);
  EXPECT_THAT(LegalTexts(closing), ElementsAre("G2"));
  const State end = After(closing, "G2");
  EXPECT_TRUE(end.finished());
  const Outcome outcome = Score(end);
  EXPECT_EQ(outcome.ended_by, Ending::kOut);
  EXPECT_THAT(outcome.kingdoms, ElementsAre(1, 1));
  EXPECT_THAT(outcome.territory, ElementsAre(43, 2));
  EXPECT_THAT(outcome.points, ElementsAre(43, 0));
}

TEST(SacredHillTest, AfterTheLastTurnNobodyMovesThoughHillsAreVacant) {
  const State closing =
      Position("sacred_hill_l1 5/7/7/3r3/3b3/7/5 0 battle - 0,0 0 out:1 -");
  EXPECT_TRUE(After(closing, "D5").finished());
}

// Red's A3 and B2 besiege A2 with order of priority 2; the vacant B3 and D4
// (between C4 and E4) have two Red neighbours as well.
TEST(SacredHillTest, Level2ChoosesAmongEqualPriorities) {
  EXPECT_THAT(LegalTexts(Position("sacred_hill_l2 5/7/7/2r1r2/r6/br5/5 0 "
                                  "battle - 0,0 0 - -")),
              ElementsAre("A2", "B3", "D4"));
}

// D3 gives D4 a third Red neighbour: building there comes before capturing.
TEST(SacredHillTest, Level2BuildsWhenTheVacantHillHasHigherPriority) {
  EXPECT_THAT(LegalTexts(Position("sacred_hill_l2 5/7/7/2r1r2/r2r3/br5/5 0 "
                                  "battle - 0,0 0 - -")),
              ElementsAre("D4"));
  EXPECT_THAT(LegalTexts(Position("sacred_hill_l1 5/7/7/2r1r2/r2r3/br5/5 0 "
                                  "battle - 0,0 0 - -")),
              ElementsAre("A2"));
}

// Blue's D4 is besieged by four; no vacant hill has as many Red neighbours.
TEST(SacredHillTest, Level2CapturesWhenTheRingfortHasHigherPriority) {
  EXPECT_THAT(LegalTexts(Position("sacred_hill_l2 5/7/3r3/2rbr2/3r3/7/5 0 "
                                  "battle - 0,0 0 - -")),
              ElementsAre("D4"));
}

// Nothing of Red's is near any vacant hill: all have priority 0.
TEST(SacredHillTest, Level2BuildsAnywhereAtPriorityZero) {
  EXPECT_THAT(LegalTexts(Position("sacred_hill_l2 5/7/7/7/b6/rb5/5 0 battle "
                                  "- 0,0 0 - -")),
              SizeIs(42));
}

TEST(SacredHillDoublesTest, FirstRingfortsGoOnTheSharedRows) {
  const State start = InitialState(Variant::kSacredHillDoublesL1);
  EXPECT_THAT(LegalTexts(start),
              ElementsAre("A4", "B4", "C4", "D4", "E4", "F4", "G4"));
  EXPECT_THAT(LegalTexts(After(start, "D4")),
              ElementsAre("D1", "D2", "D3", "D5", "D6", "D7"));
}

// South is ranks 1 to 4: 5 + 7 + 7 + 7 hills.
TEST(SacredHillDoublesTest, OptionSharedRowOpeningOffGivesTheWholeArea) {
  EXPECT_THAT(
      LegalTexts(Position("sacred_hill_doubles_l1 5/7/7/7/7/7/5 0 manoeuvres "
                          "- 0,0 0 - shared_row_opening=false")),
      SizeIs(26));
}

// Vacant: E1, E2, F3, all in South and East alone. Red South builds E1; Blue
// West is out; Red North has no turn; Blue East and Red South have one more.
TEST(SacredHillDoublesTest, OutGivesEachOtherSeatOneMoreTurnOrSkipsIt) {
  const State start = Position(
      "sacred_hill_doubles_l1 rrrbb/rrrrbbb/rrrrbbb/rrrrbbb/rrrrb1b/rrrr1bb/"
      "rrr1b 0 battle - 0,0 0 - -");
  EXPECT_THAT(LegalTexts(start), ElementsAre("E1", "E2"));
  const State east = After(start, "E1");
  EXPECT_EQ(east.seat, 3);
  EXPECT_EQ(east.ending, Ending::kOut);
  EXPECT_EQ(east.turns_left, 2);
  EXPECT_THAT(LegalTexts(east), ElementsAre("E2", "F3"));
  const State south = After(east, "E2");
  EXPECT_EQ(south.seat, 0);
  EXPECT_EQ(south.turns_left, 1);
  EXPECT_THAT(LegalTexts(south), ElementsAre("F3"));  // any vacant hill
  EXPECT_TRUE(After(south, "F3").finished());
}

// Blue's D7 is besieged, but lies in North alone: South builds in its area,
// and North, the partner, must complete the capture.
TEST(SacredHillDoublesTest, ThePartnerCompletesACapture) {
  const State south = Position(
      "sacred_hill_doubles_l1 1rbr1/3r3/7/7/7/7/5 0 battle - 0,0 0 - -");
  EXPECT_THAT(LegalTexts(south), SizeIs(26));
  const State north = After(south, "B1 A2");
  EXPECT_EQ(north.seat, 2);
  EXPECT_THAT(LegalTexts(north), ElementsAre("D7"));
  EXPECT_NE(After(north, "D7").ringforts[kRed] & Hills("D7"), 0u);
}

// In Level 2 too, only the own area counts: South's best is what is beside
// its own in ranks 1 to 4; West, Blue, may capture Red's besieged A2.
TEST(SacredHillDoublesTest, Level2LooksAtTheOwnAreaOnly) {
  const State east =
      Position("sacred_hill_doubles_l2 5/7/7/6b/b6/rb5/5 3 battle - 0,0 0 - -");
  // East's files D to G: F4, G3 and G5 beside G4.
  EXPECT_THAT(LegalTexts(east), ElementsAre("G3", "F4", "G5"));
  const State west =
      Position("sacred_hill_doubles_l2 5/7/7/6b/b6/rb5/5 1 battle - 0,0 0 - -");
  // A2 is besieged by two; the vacant B3 has two Blue neighbours.
  EXPECT_THAT(LegalTexts(west), ElementsAre("A2", "B3"));
}

}  // namespace
}  // namespace tara
