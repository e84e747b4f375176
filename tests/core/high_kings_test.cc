// High Kings of Tara, Level 1 (docs/reference/rules.md section 7).

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/core/outcome.h"
#include "tests/core/core_testing.h"

namespace tara {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;
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

// --- High kings l2 -----------------------------------------------------------

// High Kings of Tara, Level 2: sacrifices (docs/reference/rules.md
// section 7.2).
//
// Most positions are variations of one. Red's A4 is besieged by A3, A5 and B4;
// every king is immobile; Red has lost one king:
//
//   7      b b b b b
//   6    b B b B b B b
//   5    b b b b b b b
//   4    r b r . b . b
//   3    b r r r r r r
//   2    r R r R r r r
//   1      r r r r r
//        A B C D E F G

constexpr absl::string_view kBoard =
    "bbbbb/bBbBbBb/bbbbbbb/rbr1b1b/brrrrrr/rRrRrrr/rrrrr";
// The same after B2-A4*.
constexpr absl::string_view kStranded =
    "bbbbb/bBbBbBb/bbbbbbb/Sbr1b1b/brrrrrr/rrrRrrr/rrrrr";
// The same with a besieged Red C5 and a Blue C4.
constexpr absl::string_view kStrandedWithC5 =
    "bbbbb/bBbBbBb/bbrbbbb/Sbb1b1b/brrrrrr/rrrRrrr/rrrrr";

State Level2(absl::string_view board, absl::string_view rest) {
  return Position(absl::StrCat("high_kings_l2 ", board, " ", rest));
}

// B2 reaches A4 (besieged) and C4; D2 reaches F1, F3 and C4, none besieged.
TEST(SacrificeTest, IsOfferedForBacktracksToBesiegedRingforts) {
  EXPECT_THAT(LegalTexts(Level2(kBoard, "0 battle - 0,1 0 - -")),
              ElementsAre("B2-A4", "B2-C4", "D2-F1", "D2-F3", "D2-C4", "B2-A4*",
                          "pass"));
}

TEST(SacrificeTest, IsOfferedOnlyInLevel2) {
  EXPECT_THAT(LegalTexts(Position(absl::StrCat("high_kings_l1 ", kBoard,
                                               " 0 battle - 0,1 0 - -"))),
              Not(Contains("B2-A4*")));
}

// With all three kings, the third on F2.
TEST(SacrificeTest, IsNotOfferedBeforeAKingIsLost) {
  EXPECT_THAT(
      LegalTexts(Level2("bbbbb/bBbBbBb/bbbbbbb/rbr1b1b/brrrrrr/rRrRrRr/rrrrr",
                        "0 battle - 0,0 0 - -")),
      ElementsAre("B2-A4", "B2-C4", "D2-C4", "pass"));
}

TEST(SacrificeTest, GivesTheRingfortAwayAndIsProgress) {
  const State state = After(Level2(kBoard, "0 battle - 0,1 9 - -"), "B2-A4*");
  EXPECT_EQ(PositionToText(state),
            absl::StrCat("high_kings_l2 ", kStranded, " 1 battle - 0,1 0 - -"));
}

// Blue may pass: no king is mobile. It cannot move onto A4, where a king is.
TEST(SacrificeTest, LeavesTheEnemyItsOrdinaryTurn) {
  EXPECT_THAT(LegalTexts(Level2(kStranded, "1 battle - 0,1 0 - -")),
              ElementsAre("D6-E4", "F6-E4", "F6-G4", "pass"));
}

// Blue's king arrives on A5, beside the stranded king.
TEST(StrandedKingTest, IsImmuneInTheEnemysNextTurn) {
  const State state =
      After(Level2("Bbbbb/bbbBbBb/bbbbbbb/Sbr1b1b/brrrrrr/rrrRrrr/rrrrr",
                   "1 battle - 0,1 0 - -"),
            "B7-A5");
  EXPECT_THAT(state.kings_captured, ElementsAre(0, 1));
  EXPECT_NE(state.kings[kRed] & Hills("A4"), 0u);
}

// A4 reaches B2 and C3; B6 and C5 are Blue's. D2 may not move, Red not pass.
TEST(StrandedKingTest, MustMove) {
  EXPECT_THAT(LegalTexts(Level2(kStranded, "0 battle - 0,1 0 - -")),
              ElementsAre("A4-B2", "A4-C3"));
}

TEST(StrandedKingTest, MustBuildIfItIsMobile) {
  EXPECT_THAT(
      LegalTexts(Level2("bbbbb/bBbBbBb/bbbbbbb/Sbr1b1b/br1rrrr/rrrRrrr/rrrrr",
                        "0 battle - 0,1 0 - -")),
      ElementsAre("A4-C3"));
}

// C3 is Blue's, besieged by C2, B3, D3 and C4.
TEST(StrandedKingTest, MayCaptureARingfort) {
  const State state =
      Level2("bbbbb/bBbBbBb/bbbbbbb/Sbr1b1b/brbrrrr/rrrRrrr/rrrrr",
             "0 battle - 0,1 0 - -");
  EXPECT_THAT(LegalTexts(state), ElementsAre("A4-B2", "A4-C3"));
  EXPECT_NE(After(state, "A4-C3").ringforts[kRed] & Hills("C3"), 0u);
}

// D2's mobility (to E4, vacant here) does not matter: A4 may sacrifice again.
TEST(StrandedKingTest, MaySacrificeAgainWhateverTheOtherKingCanDo) {
  const State state =
      Level2("bbbbb/bBbbbBb/bbrbBbb/Sbb3b/brrrrrr/rrrRrrr/rrrrr",
             "0 battle - 0,1 0 - -");
  EXPECT_THAT(LegalTexts(state),
              ElementsAre("A4-B2", "A4-C3", "A4-C5", "A4-C5*"));
  EXPECT_EQ(PositionToText(After(state, "A4-C5*")),
            "high_kings_l2 bbbbb/bBbbbBb/bbSbBbb/bbb3b/brrrrrr/rrrRrrr/rrrrr "
            "1 battle - 0,1 0 - -");
}

// B2, C3 and C5 are Blue's and besieged by nobody, on B6 stands a king: after
// Blue's turn the stranded king has no move. Blue wins by double capture.
TEST(StrandedKingTest, IsCapturedByDefaultIfItCannotMove) {
  constexpr absl::string_view kNoWayOut =
      "bbbbb/bBbBbBb/bbbbbbb/Sbr1b1b/bbbrrrr/rbrRrrr/rrrrr";
  const State end = After(Level2(kNoWayOut, "1 battle - 0,1 0 - -"), "F6-G4");
  EXPECT_TRUE(end.finished());
  EXPECT_EQ(end.kings[kRed], Hills("D2"));
  const Outcome outcome = Score(end);
  EXPECT_EQ(outcome.ended_by, Ending::kDoubleCapture);
  EXPECT_THAT(outcome.points, ElementsAre(0, 2));
}

// Red strands its own king, and Blue's stranded B7 has no move then: Red wins
// by double capture, which ends the game as it stands.
TEST(StrandedKingTest, OfTwoTheOneThatMustMoveIsLostAlone) {
  const State end =
      After(Level2("Trrbr/rrrrbbb/rrrrrrB/rrrrbbR/rbrbbrr/rrbRrbb/r1bbr",
                   "0 battle - 1,1 0 - -"),
            "D2-F1*");
  EXPECT_EQ(end.kings[kRed], Hills("F1 G4"));
  EXPECT_EQ(end.kings[kBlue], Hills("G5"));
  const Outcome outcome = Score(end);
  EXPECT_EQ(outcome.ended_by, Ending::kDoubleCapture);
  EXPECT_THAT(outcome.points, ElementsAre(2, 1));
}

// The rulebook's Option A: the enemy passes, the king escapes. Red has C5 and
// the rest, 2 kingdoms; Blue 1: 2 + 1 points and 1 for the captured king.
TEST(StrandedKingTest, MayEscapeAfterThePass) {
  const State red =
      After(Level2(kStrandedWithC5, "1 battle - 0,1 0 - -"), "pass");
  EXPECT_THAT(LegalTexts(red),
              ElementsAre("A4-B2", "A4-C3", "A4-C5", "A4-C5*"));
  const Outcome outcome = Score(After(red, "A4-B2"));
  EXPECT_EQ(outcome.ended_by, Ending::kPassed);
  EXPECT_THAT(outcome.kingdoms, ElementsAre(2, 1));
  EXPECT_THAT(outcome.points, ElementsAre(0, 4));
}

// The rulebook's Option B: sacrificing in the last turn hands over the win.
TEST(StrandedKingTest, IsCapturedByDefaultAtTheEndByAPass) {
  const Outcome outcome = Score(
      After(Level2(kStrandedWithC5, "1 battle - 0,1 0 - -"), "pass A4-C5*"));
  EXPECT_EQ(outcome.ended_by, Ending::kDoubleCapture);
  EXPECT_THAT(outcome.points, ElementsAre(0, 2));
}

// D4 and F4 are built too. Without the sacrifice: Red's A4 and Blue's A3 stand
// alone, 2 kingdoms each; 24 to 21 ringforts: 2 + 3 points and the king's 1.
TEST(StrandedKingTest, IsCapturedByDefaultAtTheEndByAFullBoard) {
  const State state =
      Level2("bbbbb/bBbBbBb/bbbbbbb/rbrrbbb/brrrrrr/rRrRrrr/rrrrr",
             "0 battle - 0,1 0 board_full:1 -");
  const Outcome kept = Score(After(state, "B2-A4"));
  EXPECT_EQ(kept.ended_by, Ending::kBoardFull);
  EXPECT_THAT(kept.kingdoms, ElementsAre(2, 2));
  EXPECT_THAT(kept.points, ElementsAre(0, 6));
  const Outcome sacrificed = Score(After(state, "B2-A4*"));
  EXPECT_EQ(sacrificed.ended_by, Ending::kDoubleCapture);
  EXPECT_THAT(sacrificed.points, ElementsAre(0, 2));
}

TEST(StrandedKingTest, IsCapturedByDefaultAtTheEndWithoutProgress) {
  const Outcome outcome = Score(After(
      Level2(kStranded, "1 battle - 0,1 0 - no_progress_limit=1"), "F6-G4"));
  EXPECT_EQ(outcome.ended_by, Ending::kDoubleCapture);
  EXPECT_THAT(outcome.points, ElementsAre(0, 2));
}

// A3 holds a Blue king, besieged by A2, B3 and A4: the move that sacrifices A4
// captures it first.
TEST(SacrificeTest, MayCaptureAKingInTheSameTurn) {
  const State state =
      After(Level2("bbbbb/bbbBbBb/bbbbbbb/rbr1b1b/Brrrrrr/rRrRrrr/rrrrr",
                   "0 battle - 0,1 0 - -"),
            "B2-A4*");
  EXPECT_EQ(PositionToText(state),
            "high_kings_l2 bbbbb/bbbBbBb/bbbbbbb/Sbr1b1b/brrrrrr/rrrRrrr/rrrrr "
            "1 battle - 1,1 0 - -");
}

// If that capture is the second, the game is over as it stands: A4 stays.
TEST(SacrificeTest, DoesNotHappenWhenItsCapturesEndTheGame) {
  const State end =
      After(Level2("bbbbb/bbbbbBb/bbbbbbb/rbr1b1b/Brrrrrr/rRrRrrr/rrrrr",
                   "0 battle - 1,1 0 - -"),
            "B2-A4*");
  EXPECT_EQ(PositionToText(end),
            "high_kings_l2 bbbbb/bbbbbBb/bbbbbbb/Rbr1b1b/brrrrrr/rrrRrrr/rrrrr "
            "- finished - 2,1 0 double_capture:0 -");
  EXPECT_THAT(Score(end).points, ElementsAre(2, 1));
}

// Blue sacrificed D4, then Red's turn captured another Blue king: the stranded
// king does not make it a triple.
TEST(StrandedKingTest, CountsForNothingAfterADoubleCapture) {
  const Outcome outcome =
      Score(Position("high_kings_l2 5/7/7/3T3/7/R6/5 - finished - 2,1 0 "
                     "double_capture:0 -"));
  EXPECT_THAT(outcome.kings_captured, ElementsAre(2, 1));
  EXPECT_THAT(outcome.points, ElementsAre(2, 1));
}

}  // namespace
}  // namespace tara
