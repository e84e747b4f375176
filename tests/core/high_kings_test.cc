// High Kings of Tara, Level 1 (docs/reference/rules.md section 7).

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/core/outcome.h"
#include "tests/core/core_testing.h"

namespace tara {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

// Every king is immobile: the vacant hills are B4, D4 and F4, and knight's
// moves from B2, D2, F2 and B6, D6, F6 lead to none of them. `rest` is
// the fields from the captured kings on.
std::string AllImmobile(absl::string_view rest) {
  return absl::StrCat(
      "high_kings_l1 bbbbb/bBbBbBb/bbbbbbb/r1r1b1b/rrrrrrr/rRrRrRr/rrrrr 0 "
      "battle - ",
      rest);
}

TEST(HighKingsTest, PlacementIsNotAdjacentToTheOwnColour) {
  const State blue = After(Variant::kHighKingsL1, "D4");
  EXPECT_THAT(LegalTexts(blue), SizeIs(44));  // beside an enemy is allowed
  // Without D4, D5 and, beside D4, D3, C4 and E4: 45 - 5.
  EXPECT_THAT(LegalTexts(After(blue, "D5")), SizeIs(40));
}

// B2 besieges Blue's king on A2 together with A3 (decision 5).
TEST(HighKingsTest, PlacementCapturesKingsOnlyByOption) {
  const State plain = After(Variant::kHighKingsL1, "A3 A2 B2");
  EXPECT_EQ(plain.kings[kBlue], Hills("A2"));
  EXPECT_THAT(plain.kings_captured, ElementsAre(0, 0));
  RuleOptions options;
  options.placement_captures_kings = true;
  const State captured =
      After(InitialState(Variant::kHighKingsL1, options), "A3 A2 B2");
  EXPECT_EQ(PositionToText(captured),
            "high_kings_l1 5/7/7/7/R6/bR5/5 1 placement - 1,0 0 - "
            "placement_captures_kings=true");
}

// D3-B2 completes the siege of A2 (A3 is Red's): its king is captured, its
// ringfort stays.
TEST(HighKingsTest, AKingThatArrivesCapturesABesiegedKingBesideIt) {
  const State state = Position(
      "high_kings_l1 3B1/2B2R1/1b5/6R/r2R3/B6/5 0 manoeuvres - 0,0 0 - -");
  EXPECT_EQ(PositionToText(After(state, "D3-B2")),
            "high_kings_l1 3B1/2B2R1/1b5/6R/r2r3/bR5/5 1 manoeuvres - 1,0 0 - "
            "-");
}

// Red arrives on A2, besieged by Blue's B2 and by A3 with its king: no danger,
// now or when a Blue king arrives elsewhere.
TEST(HighKingsTest, ArrivingNextToEnemyKingsIsSafe) {
  const State state = Position(
      "high_kings_l1 3B1/2B2R1/7/6R/B1R4/1b5/5 0 manoeuvres - 0,0 0 - -");
  const State later = After(state, "C3-A2 E7-D5");
  EXPECT_THAT(later.kings_captured, ElementsAre(0, 0));
  EXPECT_NE(later.kings[kRed] & Hills("A2"), 0u);
}

// E4-C3 besieges the kings on B3, C2 and D3 at once (decision 8): 3 points.
TEST(HighKingsTest, ATripleCaptureScoresThree) {
  const State end = After(
      Position("high_kings_l1 5/1R3R1/7/1r1rR2/rB1Br2/1rBr3/1r3 0 battle - 0,0 "
               "0 - -"),
      "E4-C3");
  EXPECT_TRUE(end.finished());
  const Outcome outcome = Score(end);
  EXPECT_EQ(outcome.ended_by, Ending::kDoubleCapture);
  EXPECT_THAT(outcome.points, ElementsAre(3, 0));
}

// The same with Blue's third king on F1, after Blue has captured a Red king:
// the winner scores 2, the loser keeps 1; kingdoms do not count.
TEST(HighKingsTest, ADoubleCaptureScoresTwoAndTheLoserKeepsOne) {
  const Outcome outcome = Score(After(
      Position("high_kings_l1 5/5R1/7/1r1rR2/rB1Br2/1rbr3/1r2B 0 battle - 0,1 "
               "0 - -"),
      "E4-C3"));
  EXPECT_EQ(outcome.ended_by, Ending::kDoubleCapture);
  EXPECT_THAT(outcome.kings_captured, ElementsAre(2, 1));
  EXPECT_THAT(outcome.points, ElementsAre(2, 1));
}

// One before, two now: a triple.
TEST(HighKingsTest, ASecondTurnMayMakeTheTriple) {
  EXPECT_THAT(
      Score(After(Position("high_kings_l1 5/1R3R1/7/1r1rR2/rB1Br2/1rbr3/1r3 0 "
                           "battle - 1,0 0 - -"),
                  "E4-C3"))
          .points,
      ElementsAre(3, 0));
}

// B2 reaches A4 and C4; D1 and D3 lie beside the king on D2. D2 reaches C4;
// B1, B3, F1 and F3 lie beside kings. F2 has nothing. E4 and G4 are Blue's,
// linked to its block.
TEST(HighKingsTest, ImmobileKingsBacktrackOrPass) {
  EXPECT_THAT(LegalTexts(Position(AllImmobile("0,0 0 - -"))),
              ElementsAre("B2-A4", "B2-C4", "D2-C4", "pass"));
}

// As before, but Red's third king on G3 and G4 vacant: Blue's F6 can move to
// G4, Red's kings cannot (G4 is beside G3). B2 reaches A4 and C4; D2 reaches
// F1 and C4 (F3 is beside G3); G3 reaches F1 (E2 is beside D2).
TEST(HighKingsTest, NobodyPassesWhileAnEnemyKingIsMobile) {
  EXPECT_THAT(LegalTexts(Position("high_kings_l1 bbbbb/bBbBbBb/bbbbbbb/r1r1b2/"
                                  "rrrrrrR/rRrRrrr/rrrrr 0 battle - 0,0 0 - "
                                  "-")),
              ElementsAre("B2-A4", "B2-C4", "D2-F1", "D2-C4", "G3-F1"));
}

// With A4 vacant Red's B2 is mobile and must build there, whatever others
// could do.
TEST(HighKingsTest, AMobileKingMustBuild) {
  EXPECT_THAT(LegalTexts(Position("high_kings_l1 bbbbb/bBbBbBb/bbbbbbb/2r1b1b/"
                                  "rrrrrrr/rRrRrRr/rrrrr 0 battle - 0,0 0 - "
                                  "-")),
              ElementsAre("B2-A4"));
}

// A2, single and besieged by A3 and B2, has no king: C1 may capture it. B3,
// besieged too, has one (decision 7). The others backtrack where no friendly
// king is beside: not to D3, E2, C2 or D1.
TEST(HighKingsTest, CapturesABesiegedRingfortWithoutAKingOnIt) {
  const State state = Position(
      "high_kings_l1 bbbbb/bbbBbBb/bbbbbbb/1rrrrrr/rBrrRrr/brrrrrR/rRrrr 0 "
      "battle - 0,0 5 - -");
  EXPECT_THAT(LegalTexts(state), ElementsAre("C1-A2", "G2-E1", "G2-F4", "E3-F1",
                                             "E3-C4", "E3-G4", "pass"));
  EXPECT_EQ(PositionToText(After(state, "C1-A2")),
            "high_kings_l1 bbbbb/bbbBbBb/bbbbbbb/1rrrrrr/rBrrRrr/RrrrrrR/rrrrr "
            "1 battle - 0,0 0 - -");
}

// The rulebook's figure 8: backtracking to A4 captures the king on A3, which
// A2, B3 and A4 besiege; backtracking to C4 leaves it, and is no progress.
TEST(HighKingsTest, ABacktrackCapturesABesiegedKingBesideItsDestination) {
  const State state = Position(
      "high_kings_l1 bbbbb/bbbBbBb/bbbbbbb/r1r1b1b/Brrrrrr/rRrRrRr/rrrrr 0 "
      "battle - 0,0 3 - -");
  EXPECT_EQ(PositionToText(After(state, "B2-A4")),
            "high_kings_l1 bbbbb/bbbBbBb/bbbbbbb/R1r1b1b/brrrrrr/rrrRrRr/rrrrr "
            "1 battle - 1,0 0 - -");
  const State left = After(state, "B2-C4");
  EXPECT_THAT(left.kings_captured, ElementsAre(0, 0));
  EXPECT_EQ(left.no_progress, 4);
}

// After Red's pass Blue has one turn: D6-E4, F6-E4, F6-G4 or a pass. 21
// ringforts in one kingdom each: 1 point each.
TEST(HighKingsTest, AfterAPassTheOtherSideHasOneMoreTurn) {
  const State blue = After(Position(AllImmobile("0,0 0 - -")), "pass");
  EXPECT_EQ(blue.kings[kRed], 0u);
  EXPECT_EQ(blue.ending, Ending::kPassed);
  EXPECT_EQ(blue.turns_left, 1);
  EXPECT_THAT(LegalTexts(blue), ElementsAre("D6-E4", "F6-E4", "F6-G4", "pass"));
  for (const char* action : {"D6-E4", "pass"}) {
    const State end = After(blue, action);
    EXPECT_TRUE(end.finished());
    const Outcome outcome = Score(end);
    EXPECT_EQ(outcome.ended_by, Ending::kPassed);
    EXPECT_THAT(outcome.territory, ElementsAre(21, 21));
    EXPECT_THAT(outcome.points, ElementsAre(1, 1));
  }
}

// Decision 9: in a full tie captured kings do not count.
TEST(HighKingsTest, AFullTieIsOnePointEachWhateverWasCaptured) {
  const State state = Position(
      "high_kings_l1 bbbbb/bBbBbbb/bbbbbbb/r1r1b1b/rrrrrrr/rRrRrRr/rrrrr 0 "
      "battle - 1,0 0 - -");
  EXPECT_THAT(Score(After(state, "pass pass")).points, ElementsAre(1, 1));
}

// Decision 10: a pass is an action without progress.
TEST(HighKingsTest, APassAsTheFortiethActionEndsTheGameAtOnce) {
  const State end = After(Position(AllImmobile("0,0 39 - -")), "pass");
  EXPECT_TRUE(end.finished());
  EXPECT_EQ(end.ending, Ending::kNoProgress);
  EXPECT_EQ(end.kings[kRed], 0u);
}

TEST(HighKingsTest, FortyActionsWithoutProgressEndTheGame) {
  const State blue = After(Position(AllImmobile("0,0 38 - -")), "B2-A4");
  EXPECT_FALSE(blue.finished());
  EXPECT_EQ(After(blue, "F6-G4").ending, Ending::kNoProgress);
  const State option = Position(AllImmobile("0,0 0 - no_progress_limit=1"));
  EXPECT_EQ(After(option, "B2-A4").ending, Ending::kNoProgress);
}

// The pass was the trigger that came first; the last turn is the 40th without
// progress.
TEST(HighKingsTest, ThePassNamesTheEndingWhenTheLastTurnIsTheFortieth) {
  const State end = After(Position(AllImmobile("0,0 38 - -")), "pass F6-G4");
  EXPECT_TRUE(end.finished());
  EXPECT_EQ(end.ending, Ending::kPassed);
}

// Red's kings on B1, F1 and B7 reach only Blue ringforts, and Blue's E7 can
// still move: Red's turn is skipped (decision 6). Then E7-G6 fills the board:
// Red has one more turn, where all are immobile: it may only pass. Red has 3
// kingdoms, Blue 1: 2 + 2 points.
TEST(HighKingsTest, ATurnIsSkippedAndTheLastVacantHillLeavesOneMoreTurn) {
  const State blue = Position(
      "high_kings_l1 RbbBb/bbbbbb1/bbbbbBb/bbb1bbb/bbbbbbb/Bbbbbbb/RbbbR 1 "
      "battle - 0,0 0 - -");
  EXPECT_THAT(LegalTexts(blue), ElementsAre("F5-D4", "E7-G6"));
  const State again = After(blue, "F5-D4");
  EXPECT_EQ(again.seat, 1);
  EXPECT_EQ(again.ending, Ending::kNone);
  EXPECT_THAT(LegalTexts(again), ElementsAre("E7-G6"));
  const State red = After(again, "E7-G6");
  EXPECT_EQ(red.seat, 0);
  EXPECT_EQ(red.ending, Ending::kBoardFull);
  EXPECT_EQ(red.turns_left, 1);
  EXPECT_THAT(LegalTexts(red), ElementsAre("pass"));
  const State end = After(red, "pass");
  EXPECT_TRUE(end.finished());
  EXPECT_EQ(end.ending, Ending::kBoardFull);
  EXPECT_THAT(Score(end).points, ElementsAre(0, 4));
}

// The rulebook's example: one kingdom fewer and one captured king score 2 + 1
// + 1; the other side's captured king scores it 1.
TEST(HighKingsTest, ACapturedKingScoresOnePoint) {
  EXPECT_THAT(Score(Position("high_kings_l1 5/7/7/3r3/7/b5b/5 - finished - 1,0 "
                             "12 passed:0 -"))
                  .points,
              ElementsAre(4, 0));
  EXPECT_THAT(Score(Position("high_kings_l1 5/7/7/3r3/7/b5b/5 - finished - 1,1 "
                             "12 passed:0 -"))
                  .points,
              ElementsAre(4, 1));
}

}  // namespace
}  // namespace tara
