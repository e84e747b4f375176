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
