// The rules of each family (docs/reference/rules.md) in positions that random
// play seldom reaches.

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tara/core/board.h"
#include "tests/core/core_testing.h"
#include "tests/core/turn_cases.h"

namespace tara {
namespace {

TEST(SacredHillTest, Manoeuvres) {
  ExpectTurns({
      // Decision 1: the squared distance to every friendly ringfort is at least
      // 5. Knight's moves from D4: C2 E2 B3 F3 B5 F5 C6 E6; Blue took B3.
      {"a knight's move and nothing nearer", "sacred_hill_l1", "D4 B3",
       "legal C2 E2 F3 B5 F5 C6 E6"},
      // With E6 too: C6 is two steps along a line from E6, F5 diagonal to it;
      // of E6's knight's moves C5 is diagonal to D4, F4 two steps along a line,
      // and C7 and G5 are far enough.
      {"of two ringforts", "sacred_hill_l1", "D4 B3 E6 A5",
       "legal C2 E2 F3 B5 G5 C7"},
      // Without a bound also C5, F4, F5 and C6.
      {"an option lets hills be nearer", "sacred_hill_l1 proximity_bound=1",
       "D4 B3 E6 A5", "legal C2 E2 F3 F4 B5 C5 F5 G5 C6 C7"},
  });
}

TEST(SacredHillTest, Level1CapturesElseBuildsBesideItsOwnElseAnywhere) {
  ExpectTurns({
      {"must capture a besieged single",
       "sacred_hill_l1 5/7/7/7/r6/br5/5 0 battle - 0,0 0 - -", "", "legal A2"},
      {"or one of several",
       "sacred_hill_l1 5/7/7/7/r5r/br3rb/5 0 battle - 0,0 0 - -", "",
       "legal A2 G2"},
      {"builds beside its own",
       "sacred_hill_l1 5/7/7/3r3/7/7/5 0 battle - 0,0 0 - -", "",
       "legal D3 C4 E4 D5"},
      {"Red's A2 is walled in: any vacant hill, the besieged G2 too",
       "sacred_hill_l1 5/7/7/7/b5b/rb3b1/5 0 battle - 0,0 0 - -", "",
       "count 40; may G2"},
  });
}

// Red captures A2; Blue builds on the last vacant hill, D4, and Red captures
// it; now Blue, with only the pair E7, F7, is out and Red has one more turn.
// 43 Red ringforts and 2 Blue, one kingdom each: 2 + 41 points.
TEST(SacredHillTest, OutGivesTheOtherSideOneMoreTurn) {
  const std::string start =
      "sacred_hill_l1 rrrbb/rrrrrrr/rrrrrrr/rrr1rrr/rrrrrrr/brrrrrb/rrrrr 0 "
      "battle - 0,0 0 - -";
  ExpectTurns({
      {"before", start, "", "legal A2 G2"},
      {"one more turn", start, "A2 D4 D4", "seat 0; ending out:1; legal G2"},
      {"the end", start, "A2 D4 D4 G2",
       "phase finished; ended_by out; kingdoms 1,1; territory 43,2; points "
       "43,0"},
      {"nobody moves after it though hills are vacant",
       "sacred_hill_l1 5/7/7/3r3/3b3/7/5 0 battle - 0,0 0 out:1 -", "D5",
       "phase finished"},
  });
}

TEST(SacredHillTest, Level2GoesByPriority) {
  ExpectTurns({
      // Red's A3 and B2 besiege A2; the vacant B3 and D4 (between C4 and E4)
      // have two Red neighbours as well.
      {"among equals",
       "sacred_hill_l2 5/7/7/2r1r2/r6/br5/5 0 battle - 0,0 0 - -", "",
       "legal A2 B3 D4"},
      {"D3 gives D4 a third Red neighbour",
       "sacred_hill_l2 5/7/7/2r1r2/r2r3/br5/5 0 battle - 0,0 0 - -", "",
       "legal D4"},
      {"which does not matter in Level 1",
       "sacred_hill_l1 5/7/7/2r1r2/r2r3/br5/5 0 battle - 0,0 0 - -", "",
       "legal A2"},
      {"D4 is besieged by four",
       "sacred_hill_l2 5/7/3r3/2rbr2/3r3/7/5 0 battle - 0,0 0 - -", "",
       "legal D4"},
      {"all have priority 0",
       "sacred_hill_l2 5/7/7/7/b6/rb5/5 0 battle - 0,0 0 - -", "", "count 42"},
  });
}

TEST(SacredHillDoublesTest, SeatsActInTheirAreas) {
  // Vacant: E1, E2, F3, all in South and East alone. Red South builds E1; Blue
  // West is out; Red North has no turn; Blue East and Red South have one more.
  const std::string closing =
      "sacred_hill_doubles_l1 rrrbb/rrrrbbb/rrrrbbb/rrrrbbb/rrrrb1b/rrrr1bb/"
      "rrr1b 0 battle - 0,0 0 - -";
  // Blue's D7 is besieged, but lies in North alone: South builds in its area,
  // and North, the partner, must complete the capture.
  const std::string partner =
      "sacred_hill_doubles_l1 1rbr1/3r3/7/7/7/7/5 0 battle - 0,0 0 - -";
  ExpectTurns({
      {"first ringforts go on the shared rows", "sacred_hill_doubles_l1", "",
       "legal A4 B4 C4 D4 E4 F4 G4"},
      {"of either side", "sacred_hill_doubles_l1", "D4",
       "legal D1 D2 D3 D5 D6 D7"},
      {"South is ranks 1 to 4: 5 + 7 + 7 + 7 hills",
       "sacred_hill_doubles_l1 shared_row_opening=false", "", "count 26"},
      {"before one is out", closing, "", "legal E1 E2"},
      {"each other seat has one more turn or none", closing, "E1",
       "seat 3; ending out:2; legal E2 F3"},
      {"on any vacant hill", closing, "E1 E2",
       "seat 0; ending out:1; legal F3"},
      {"the end", closing, "E1 E2 F3", "phase finished"},
      {"South cannot capture in North", partner, "", "count 26"},
      {"North must", partner, "B1 A2", "seat 2; legal D7"},
      {"and does", partner, "B1 A2 D7", "board 1rrr1/3r3/7/7/7/b6/r4"},
      // East's files D to G: F4, G3 and G5 beside G4.
      {"priorities of the own area",
       "sacred_hill_doubles_l2 5/7/7/6b/b6/rb5/5 3 battle - 0,0 0 - -", "",
       "legal G3 F4 G5"},
      // A2 is besieged by two; the vacant B3 has two Blue neighbours.
      {"of West's",
       "sacred_hill_doubles_l2 5/7/7/6b/b6/rb5/5 1 battle - 0,0 0 "
       "- -",
       "", "legal A2 B3"},
  });
}

TEST(FourTreasuresTest, Turns) {
  ExpectTurns({
      {"must capture a besieged single",
       "four_treasures 5/7/7/7/r6/br5/5 0 battle - 0,0 0 - -", "", "legal A2"},
      {"else builds anywhere",
       "four_treasures 5/7/7/7/7/br5/5 0 battle - 0,0 0 - -", "", "count 43"},
      // No shared-row rule: the first turn may be anywhere in the own area.
      {"South's area", "four_treasures_doubles", "", "count 26"},
      {"West's area", "four_treasures_doubles", "G2",
       "count 26; may_not E1 F1 E2 F2 E3 F3 G3 E4 F4 G4 E5 F5 G5 E6 F6 G6 E7 "
       "F7"},
  });
}

TEST(FourTreasuresTest, Scores) {
  ExpectTurns({
      // Blue holds ranks 6 and 7: 6 + 4 bridges along the ranks, 5 between
      // them: 15. Red holds ranks 1 to 5: 4 + 4 * 6 along, 5 + 3 * 7 between:
      // 54, but a side has 40. Red scores 2 + (40 - 15) = 27.
      {"a side has forty bridges",
       "four_treasures bbbbb/bbbbbbb/rrrrrrr/rrrrrrr/rrrrrrr/rrrrrrr/rrrrr - "
       "finished - 0,0 0 out:0 -",
       "", "bridges 40,15; points 27,0"},
      {"bridges decide, not kingdoms: 2 + (2 - 0)",
       "four_treasures 5/7/rr3rr/7/7/3b3/5 - finished - 0,0 0 out:0 -", "",
       "kingdoms 2,1; points 4,0"},
      {"equal bridges are decided by territory: 2 + (2 - 1)",
       "four_treasures 5/7/7/r2b2b/7/7/5 - finished - 0,0 0 out:0 -", "",
       "points 0,3"},
      {"equal in both",
       "four_treasures_doubles 5/7/7/r5b/7/7/5 - finished - 0,0 0 out:0 -", "",
       "points 1,1"},
  });
}

TEST(PoisonedChaliceTest, Manoeuvres) {
  ExpectTurns({
      // Four edges of five hills; a ringfort takes its own hill and the one
      // opposite from everybody, and its edge from its own side.
      {"the edges", "poisoned_chalice", "", "count 20"},
      {"not D1, not D7", "poisoned_chalice", "D1", "count 18"},
      {"Red is done with rank 1; D7 is opposite D1 and B7 is taken",
       "poisoned_chalice", "D1 B7",
       "legal A2 G2 A3 G3 A4 G4 A5 G5 A6 G6 C7 E7 F7"},
      {"Battle starts with the ninth turn", "poisoned_chalice",
       "D1 B7 C7 E1 A2 A3 G4 G5", "phase battle; seat 0"},
  });
}

TEST(PoisonedChaliceTest, Battle) {
  ExpectTurns({
      // Red's rows are the files. A and G: two Red, one Blue: Red has more. B
      // and C: no Blue. D: one Blue, no Red: qualified. E and F: nothing.
      {"Red builds in qualified files",
       "poisoned_chalice 5/7/b5b/1rrb3/r5r/r5r/5 0 battle - 0,0 0 - -", "",
       "legal D1 D2 D3 D5 D6 D7"},
      {"as many as the enemy still qualify: Red's D6",
       "poisoned_chalice 5/3r3/b5b/1rrb3/r5r/r5r/5 0 battle - 0,0 0 - -", "",
       "legal D1 D2 D3 D5 D7"},
      // Blue's rows are the ranks. 2 and 3: two Red, no Blue; 4: two Red, one
      // Blue; 5: no Red.
      {"Blue builds in qualified ranks",
       "poisoned_chalice 5/7/b5b/1rrb3/r5r/r5r/5 1 battle - 0,0 0 - -", "",
       "legal B2 C2 D2 E2 F2 B3 C3 D3 E3 F3 A4 E4 F4 G4"},
      // A2 is besieged by A3 and B2. With Red's A3 and A5 file A has more Red
      // than Blue: no qualified row.
      {"captures without a qualified row",
       "poisoned_chalice 5/5r1/r1r4/6r/r3r2/br5/5 0 battle - 0,0 0 - -", "",
       "legal A2"},
      {"without A5 it is qualified, and comes before the capture",
       "poisoned_chalice 5/5r1/1rr4/6r/r3r2/br5/5 0 battle - 0,0 0 - -", "",
       "legal A4 A5 A6"},
      // File D has three Red and four Blue, but no vacant hill (decision 3); no
      // other file has Blue and nothing is besieged.
      {"a full row is not qualified",
       "poisoned_chalice 2b2/3b3/3b3/3b3/r2r3/3r3/2r2 0 battle - 0,0 0 - -", "",
       "count 37"},
  });
}

// --- High Kings (section 7) --------------------------------------------------

// Every king is immobile: the vacant hills are B4, D4 and F4, and knight's
// moves from B2, D2, F2 and B6, D6, F6 lead to none of them. To be followed by
// the fields from the captured kings on.
const std::string kImmobile =
    "high_kings_l1 bbbbb/bBbBbBb/bbbbbbb/r1r1b1b/rrrrrrr/rRrRrRr/rrrrr 0 "
    "battle - ";

TEST(HighKingsTest, PlacementAndManoeuvres) {
  ExpectTurns({
      {"beside an enemy is allowed", "high_kings_l1", "D4", "count 44"},
      // Without D4, D5 and, beside D4, D3, C4 and E4: 45 - 5.
      {"but not beside the own colour", "high_kings_l1", "D4 D5", "count 40"},
      // B2 besieges Blue's king on A2 together with A3 (decision 5).
      {"placing captures no king", "high_kings_l1", "A3 A2 B2",
       "board 5/7/7/7/R6/BR5/5; captured 0,0"},
      {"but by an option", "high_kings_l1 placement_captures_kings=true",
       "A3 A2 B2",
       "position high_kings_l1 5/7/7/7/R6/bR5/5 1 placement - 1,0 0 - "
       "placement_captures_kings=true"},
      // D3-B2 completes the siege of A2 (A3 is Red's): its king is captured,
      // its ringfort stays.
      {"a king that arrives captures a besieged king beside it",
       "high_kings_l1 3B1/2B2R1/1b5/6R/r2R3/B6/5 0 manoeuvres - 0,0 0 - -",
       "D3-B2",
       "position high_kings_l1 3B1/2B2R1/1b5/6R/r2r3/bR5/5 1 manoeuvres - 1,0 "
       "0 - -"},
      // Red arrives on A2, besieged by Blue's B2 and by A3 with its king: no
      // danger, now or when a Blue king arrives elsewhere.
      {"arriving next to enemy kings is safe",
       "high_kings_l1 3B1/2B2R1/7/6R/B1R4/1b5/5 0 manoeuvres - 0,0 0 - -",
       "C3-A2 E7-D5", "captured 0,0; board 3b1/2B2R1/3B3/6R/B1r4/Rb5/5"},
  });
}

TEST(HighKingsTest, CapturesOfKingsEndTheGame) {
  ExpectTurns({
      // E4-C3 besieges the kings on B3, C2 and D3 at once (decision 8).
      {"a triple capture scores three",
       "high_kings_l1 5/1R3R1/7/1r1rR2/rB1Br2/1rBr3/1r3 0 battle - 0,0 0 - -",
       "E4-C3", "phase finished; ended_by double_capture; points 3,0"},
      // The same with Blue's third king on F1, after Blue has captured a Red
      // king; kingdoms do not count.
      {"a double capture scores two, and the loser keeps one",
       "high_kings_l1 5/5R1/7/1r1rR2/rB1Br2/1rbr3/1r2B 0 battle - 0,1 0 - -",
       "E4-C3", "ended_by double_capture; kings 2,1; points 2,1"},
      {"one before, two now: a triple",
       "high_kings_l1 5/1R3R1/7/1r1rR2/rB1Br2/1rbr3/1r3 0 battle - 1,0 0 - -",
       "E4-C3", "points 3,0"},
      // The rulebook's example: one kingdom fewer and one captured king score 2
      // + 1 + 1; the other side's captured king scores it 1.
      {"a captured king scores one point",
       "high_kings_l1 5/7/7/3r3/7/b5b/5 - finished - 1,0 12 passed:0 -", "",
       "points 4,0"},
      {"on either side",
       "high_kings_l1 5/7/7/3r3/7/b5b/5 - finished - 1,1 12 passed:0 -", "",
       "points 4,1"},
  });
}

TEST(HighKingsTest, KingsBuildElseBacktrackElsePass) {
  // A2, single and besieged by A3 and B2, has no king: C1 may capture it. B3,
  // besieged too, has one (decision 7). The others backtrack where no friendly
  // king is beside: not to D3, E2, C2 or D1.
  const std::string besieged =
      "high_kings_l1 bbbbb/bbbBbBb/bbbbbbb/1rrrrrr/rBrrRrr/brrrrrR/rRrrr 0 "
      "battle - 0,0 5 - -";
  // The rulebook's figure 8: A2, B3 and A4 besiege the king on A3.
  const std::string figure =
      "high_kings_l1 bbbbb/bbbBbBb/bbbbbbb/r1r1b1b/Brrrrrr/rRrRrRr/rrrrr 0 "
      "battle - 0,0 3 - -";
  ExpectTurns({
      // B2 reaches A4 and C4; D1 and D3 lie beside the king on D2. D2 reaches
      // C4; B1, B3, F1 and F3 lie beside kings. F2 has nothing. E4 and G4 are
      // Blue's, linked to its block.
      {"immobile kings backtrack or pass", kImmobile + "0,0 0 - -", "",
       "legal B2-A4 B2-C4 D2-C4 pass"},
      // Red's third king is on G3 and G4 vacant: Blue's F6 can move to G4,
      // Red's kings cannot (G4 is beside G3). B2 reaches A4 and C4; D2 reaches
      // F1 and C4 (F3 is beside G3); G3 reaches F1 (E2 is beside D2).
      {"nobody passes while an enemy king is mobile",
       "high_kings_l1 bbbbb/bBbBbBb/bbbbbbb/r1r1b2/rrrrrrR/rRrRrrr/rrrrr 0 "
       "battle - 0,0 0 - -",
       "", "legal B2-A4 B2-C4 D2-F1 D2-C4 G3-F1"},
      {"with A4 vacant B2 must build there",
       "high_kings_l1 bbbbb/bBbBbBb/bbbbbbb/2r1b1b/rrrrrrr/rRrRrRr/rrrrr 0 "
       "battle - 0,0 0 - -",
       "", "legal B2-A4"},
      {"captures a besieged ringfort without a king", besieged, "",
       "legal C1-A2 G2-E1 G2-F4 E3-F1 E3-C4 E3-G4 pass"},
      {"which is progress", besieged, "C1-A2",
       "position high_kings_l1 bbbbb/bbbBbBb/bbbbbbb/1rrrrrr/rBrrRrr/RrrrrrR/"
       "rrrrr 1 battle - 0,0 0 - -"},
      {"a backtrack captures a besieged king beside its destination", figure,
       "B2-A4",
       "position high_kings_l1 bbbbb/bbbBbBb/bbbbbbb/R1r1b1b/brrrrrr/rrrRrRr/"
       "rrrrr 1 battle - 1,0 0 - -"},
      {"and no other, which is no progress", figure, "B2-C4",
       "captured 0,0; progress 4"},
  });
}

TEST(HighKingsTest, EndsByAPassAFullBoardOrWithoutProgress) {
  // Red's kings on B1, F1 and B7 reach only Blue ringforts, and Blue's E7 can
  // still move: Red's turn is skipped (decision 6). Then E7-G6 fills the board:
  // Red has one more turn, where all are immobile. Red has 3 kingdoms, Blue 1:
  // 2 + 2 points.
  const std::string skipped =
      "high_kings_l1 RbbBb/bbbbbb1/bbbbbBb/bbb1bbb/bbbbbbb/Bbbbbbb/RbbbR 1 "
      "battle - 0,0 0 - -";
  constexpr char kTie[] = "ended_by passed; territory 21,21; points 1,1";
  ExpectTurns({
      {"after a pass the other side has one more turn", kImmobile + "0,0 0 - -",
       "pass",
       "board bbbbb/bBbBbBb/bbbbbbb/r1r1b1b/rrrrrrr/rrrrrrr/rrrrr; ending "
       "passed:1; legal D6-E4 F6-E4 F6-G4 pass"},
      {"21 ringforts in one kingdom each", kImmobile + "0,0 0 - -",
       "pass D6-E4", kTie},
      {"by two passes", kImmobile + "0,0 0 - -", "pass pass", kTie},
      {"decision 9: in a full tie captured kings do not count",
       "high_kings_l1 bbbbb/bBbBbbb/bbbbbbb/r1r1b1b/rrrrrrr/rRrRrRr/rrrrr 0 "
       "battle - 1,0 0 - -",
       "pass pass", "points 1,1"},
      {"decision 10: a pass is an action without progress",
       kImmobile + "0,0 39 - -", "pass",
       "board bbbbb/bBbBbBb/bbbbbbb/r1r1b1b/rrrrrrr/rrrrrrr/rrrrr; ending "
       "no_progress:0"},
      {"39 actions", kImmobile + "0,0 38 - -", "B2-A4", "phase battle"},
      {"forty actions", kImmobile + "0,0 38 - -", "B2-A4 F6-G4",
       "ending no_progress:0"},
      {"or as many as an option says",
       kImmobile + "0,0 0 - no_progress_limit=1", "B2-A4",
       "ending no_progress:0"},
      {"the pass came first", kImmobile + "0,0 38 - -", "pass F6-G4",
       "phase finished; ending passed:0"},
      {"before a turn is skipped", skipped, "", "legal F5-D4 E7-G6"},
      {"skipped", skipped, "F5-D4", "seat 1; ending -; legal E7-G6"},
      {"the last vacant hill leaves one more turn", skipped, "F5-D4 E7-G6",
       "seat 0; ending board_full:1; legal pass"},
      {"the end", skipped, "F5-D4 E7-G6 pass",
       "phase finished; ending board_full:0; points 0,4"},
  });
}

// Level 2 (section 7.2). Most positions are variations of one. Red's A4 is
// besieged by A3, A5 and B4; every king is immobile; Red has lost one king:
//
//   7      b b b b b
//   6    b B b B b B b
//   5    b b b b b b b
//   4    r b r . b . b
//   3    b r r r r r r
//   2    r R r R r r r
//   1      r r r r r
//        A B C D E F G
constexpr char kBoard[] = "bbbbb/bBbBbBb/bbbbbbb/rbr1b1b/brrrrrr/rRrRrrr/rrrrr";
// The same after B2-A4*.
constexpr char kStranded[] =
    "bbbbb/bBbBbBb/bbbbbbb/Sbr1b1b/brrrrrr/rrrRrrr/rrrrr";
// The same with a besieged Red C5 and a Blue C4.
constexpr char kStrandedWithC5[] =
    "bbbbb/bBbBbBb/bbrbbbb/Sbb1b1b/brrrrrr/rrrRrrr/rrrrr";

std::string Level2(const char* board, const char* rest) {
  return absl::StrCat("high_kings_l2 ", board, " ", rest);
}

TEST(HighKingsTest, Sacrifices) {
  const std::string state = Level2(kBoard, "0 battle - 0,1 0 - -");
  // A3 holds a Blue king, besieged by A2, B3 and A4: the move that sacrifices
  // A4 captures it first.
  const std::string capture =
      Level2("bbbbb/bbbBbBb/bbbbbbb/rbr1b1b/Brrrrrr/rRrRrrr/rrrrr",
             "0 battle - 0,1 0 - -");
  ExpectTurns({
      // B2 reaches A4 (besieged) and C4; D2 reaches F1, F3 and C4, none
      // besieged.
      {"offered for backtracks to besieged ringforts", state, "",
       "legal B2-A4 B2-C4 D2-F1 D2-F3 D2-C4 B2-A4* pass"},
      {"only in Level 2",
       absl::StrCat("high_kings_l1 ", kBoard, " 0 battle - 0,1 0 - -"), "",
       "may_not B2-A4*"},
      {"not before a king is lost: the third is on F2",
       Level2("bbbbb/bBbBbBb/bbbbbbb/rbr1b1b/brrrrrr/rRrRrRr/rrrrr",
              "0 battle - 0,0 0 - -"),
       "", "legal B2-A4 B2-C4 D2-C4 pass"},
      {"gives the ringfort away, and is progress",
       Level2(kBoard, "0 battle - 0,1 9 - -"), "B2-A4*",
       "position high_kings_l2 bbbbb/bBbBbBb/bbbbbbb/Sbr1b1b/brrrrrr/rrrRrrr/"
       "rrrrr 1 battle - 0,1 0 - -"},
      // No king is mobile. Blue cannot move onto A4, where a king is.
      {"leaves the enemy its ordinary turn",
       Level2(kStranded, "1 battle - 0,1 0 - -"), "",
       "legal D6-E4 F6-E4 F6-G4 pass"},
      {"may capture a king in the same turn", capture, "B2-A4*",
       "position high_kings_l2 bbbbb/bbbBbBb/bbbbbbb/Sbr1b1b/brrrrrr/rrrRrrr/"
       "rrrrr 1 battle - 1,1 0 - -"},
      {"does not happen when its captures end the game: A4 stays",
       Level2("bbbbb/bbbbbBb/bbbbbbb/rbr1b1b/Brrrrrr/rRrRrrr/rrrrr",
              "0 battle - 1,1 0 - -"),
       "B2-A4*",
       "position high_kings_l2 bbbbb/bbbbbBb/bbbbbbb/Rbr1b1b/brrrrrr/rrrRrrr/"
       "rrrrr - finished - 2,1 0 double_capture:0 -; points 2,1"},
  });
}

TEST(HighKingsTest, StrandedKingsMustMove) {
  // C3 is Blue's, besieged by C2, B3, D3 and C4.
  const std::string capture =
      Level2("bbbbb/bBbBbBb/bbbbbbb/Sbr1b1b/brbrrrr/rrrRrrr/rrrrr",
             "0 battle - 0,1 0 - -");
  // D2's mobility (to E4, vacant here) does not matter.
  const std::string again =
      Level2("bbbbb/bBbbbBb/bbrbBbb/Sbb3b/brrrrrr/rrrRrrr/rrrrr",
             "0 battle - 0,1 0 - -");
  ExpectTurns({
      // Blue's king arrives on A5, beside the stranded king.
      {"immune in the enemy's next turn",
       Level2("Bbbbb/bbbBbBb/bbbbbbb/Sbr1b1b/brrrrrr/rrrRrrr/rrrrr",
              "1 battle - 0,1 0 - -"),
       "B7-A5",
       "captured 0,1; board bbbbb/bbbBbBb/Bbbbbbb/Sbr1b1b/brrrrrr/rrrRrrr/"
       "rrrrr"},
      // A4 reaches B2 and C3; B6 and C5 are Blue's. D2 may not move, Red not
      // pass.
      {"moves", Level2(kStranded, "0 battle - 0,1 0 - -"), "",
       "legal A4-B2 A4-C3"},
      {"builds if it is mobile",
       Level2("bbbbb/bBbBbBb/bbbbbbb/Sbr1b1b/br1rrrr/rrrRrrr/rrrrr",
              "0 battle - 0,1 0 - -"),
       "", "legal A4-C3"},
      {"may capture a ringfort", capture, "", "legal A4-B2 A4-C3"},
      {"and has then", capture, "A4-C3",
       "board bbbbb/bBbBbBb/bbbbbbb/bbr1b1b/brRrrrr/rrrRrrr/rrrrr"},
      {"may sacrifice again whatever the other king can do", again, "",
       "legal A4-B2 A4-C3 A4-C5 A4-C5*"},
      {"and has then", again, "A4-C5*",
       "position high_kings_l2 bbbbb/bBbbbBb/bbSbBbb/bbb3b/brrrrrr/rrrRrrr/"
       "rrrrr 1 battle - 0,1 0 - -"},
      // The rulebook's Option A. Red has C5 and the rest, 2 kingdoms; Blue 1: 2
      // + 1 points and 1 for the captured king.
      {"may escape after the pass",
       Level2(kStrandedWithC5, "1 battle - 0,1 0 - -"), "pass",
       "legal A4-B2 A4-C3 A4-C5 A4-C5*"},
      {"and has then", Level2(kStrandedWithC5, "1 battle - 0,1 0 - -"),
       "pass A4-B2", "ended_by passed; kingdoms 2,1; points 0,4"},
  });
}

TEST(HighKingsTest, StrandedKingsThatCannotMoveAreCapturedByDefault) {
  // D4 and F4 are built too. Without the sacrifice: Red's A4 and Blue's A3
  // stand alone, 2 kingdoms each; 24 to 21 ringforts: 2 + 3 points and the
  // king's 1.
  const std::string full =
      Level2("bbbbb/bBbBbBb/bbbbbbb/rbrrbbb/brrrrrr/rRrRrrr/rrrrr",
             "0 battle - 0,1 0 board_full:1 -");
  constexpr char kLost[] = "ended_by double_capture; points 0,2";
  ExpectTurns({
      // B2, C3 and C5 are Blue's and besieged by nobody, on B6 stands a king:
      // after Blue's turn the stranded king has no move.
      {"during the game",
       Level2("bbbbb/bBbBbBb/bbbbbbb/Sbr1b1b/bbbrrrr/rbrRrrr/rrrrr",
              "1 battle - 0,1 0 - -"),
       "F6-G4",
       "phase finished; board bbbbb/bBbBbbb/bbbbbbb/bbr1b1B/bbbrrrr/rbrRrrr/"
       "rrrrr; ended_by double_capture; points 0,2"},
      // Red strands its own king, and Blue's stranded B7 has no move then: Red
      // wins by double capture, which ends the game as it stands.
      {"of two the one that must move is lost alone",
       Level2("Trrbr/rrrrbbb/rrrrrrB/rrrrbbR/rbrbbrr/rrbRrbb/r1bbr",
              "0 battle - 1,1 0 - -"),
       "D2-F1*",
       "board rrrbr/rrrrbbb/rrrrrrB/rrrrbbR/rbrbbrr/rrbrrbb/r1bbS; ended_by "
       "double_capture; points 2,1"},
      // The rulebook's Option B: sacrificing in the last turn.
      {"at the end by a pass", Level2(kStrandedWithC5, "1 battle - 0,1 0 - -"),
       "pass A4-C5*", kLost},
      {"a full board without a sacrifice", full, "B2-A4",
       "ended_by board_full; kingdoms 2,2; points 0,6"},
      {"at the end by a full board", full, "B2-A4*", kLost},
      {"at the end without progress",
       Level2(kStranded, "1 battle - 0,1 0 - no_progress_limit=1"), "F6-G4",
       kLost},
      // Blue sacrificed D4, then Red's turn captured another Blue king: the
      // stranded king does not make it a triple.
      {"counts for nothing after a double capture",
       "high_kings_l2 5/7/7/3T3/7/R6/5 - finished - 2,1 0 double_capture:0 -",
       "", "kings 2,1; points 2,1"},
  });
}

// --- Stone of Destiny (section 8.2) ------------------------------------------

// Red holds ranks 1 to 3 and A4 to D4 (23), its king on B2; Blue the rest
// (22), its king on F6.
const std::string kTwoBlocks =
    "stone_of_destiny bbbbb/bbbbbBb/bbbbbbb/rrrrbbb/rrrrrrr/rRrrrrr/rrrrr ";

// Links all adjacent ringforts of a side, but the pairs from these hills on.
State Linked(const std::string& text, Side side, Board not_east = 0,
             Board not_north = 0) {
  State state = Position(text);
  const Board own = state.ringforts[side];
  state.links_east |= own & West(own) & ~not_east;
  state.links_north |= own & South(own) & ~not_north;
  EXPECT_EQ(ValidatePosition(state), absl::OkStatus());
  return state;
}

TEST(StoneOfDestinyTest, ManoeuvresStayNearTheEnemyKing) {
  ExpectTurns({
      // One and two steps from D4 in eight directions; nothing blocks (decision
      // 15): after Blue's D5, Red's king on D4 is still the centre for Blue.
      {"around D4", "stone_of_destiny", "D4",
       "legal B2 D2 F2 C3 D3 E3 B4 C4 E4 F4 C5 D5 E5 B6 D6 F6"},
      {"around D5, with D4 between D5 and D3", "stone_of_destiny", "D4 D5",
       "legal B3 D3 F3 C4 E4 B5 C5 E5 F5 C6 D6 E6 B7 D7 F7"},
      // Near B1 are C1, D1, A2, B2, C2, B3 and D3: none is vacant.
      {"anywhere when nothing near is vacant",
       "stone_of_destiny 5/7/7/7/1b1R3/rbr4/Brb2 0 manoeuvres - 0,0 0 - -", "",
       "count 37"},
  });
}

TEST(StoneOfDestinyTest, ATurnIsASwapAndALink) {
  const std::string blue = kTwoBlocks + "1 battle B1=C1 0,0 7 - -";
  ExpectTurns({
      {"neither linked ringforts nor the king's are swapped", blue, "",
       "count 20; may D1 D4; may_not B1 C1 B2"},
      // After the swap of D4 Blue's pairs are: ranks 5 to 7: 6 + 6 + 4 along
      // and 7 + 5 between, 28; E4 to G4: 2 along, 3 up; D4=E4 and D4=D5: 35.
      {"a swap moves the king and is followed by a link of own ringforts", blue,
       "D4",
       "seat 1; phase link; board bbbbb/bbbbbbb/bbbbbbb/rrrBbbb/rrrrrrr/"
       "rRrrrrr/rrrrr; count 35; may D4=E4; may_not C4=D4 C1=D1"},
      // Blue's 23 without the linked D4 (where the king is too) and E4.
      {"after the link", blue, "D4 D4=E4",
       "seat 0; phase battle; progress 0; count 21"},
      // Blue has linked all it can, and D2 lies among Red's: no pair to link.
      // Blue's F2, alone among Red's as well (Red has E4 for it), is left.
      {"a turn without a pair to link ends after the swap",
       Linked("stone_of_destiny bbbbb/bbbbbBb/bbbbbbb/rrrrrbb/rrrrrrr/rRrrrbr/"
              "rrrrr 1 battle B1=C1 0,0 7 - -",
              kBlue),
       "D2", "seat 0; phase battle; progress 8; legal F2"},
  });
}

TEST(StoneOfDestinyTest, Ends) {
  ExpectTurns({
      // The protected D2 alone is nothing to swap: Red, without another
      // unlinked Blue ringfort, is out, and Blue has no spare ringfort.
      {"the king on the only unlinked ringfort leaves the enemy out",
       Linked(kTwoBlocks + "1 battle B1=C1 0,0 7 - -", kBlue), "D2",
       "phase finished; ending out:0"},
      // Everything is linked: Red is one kingdom, Blue its block and D2: 2 + 1
      // points.
      {"forty turns without a link",
       Linked(kTwoBlocks + "1 battle B1=C1 0,0 39 - -", kBlue), "D2",
       "phase finished; ended_by no_progress; kingdoms 1,2; points 3,0"},
      // Without decision 12: of Red's 22 only B1 and C1 are linked, 21
      // kingdoms; Blue has 2: 2 + 19 points.
      {"an option scores the links as they are",
       Linked(kTwoBlocks + "1 battle B1=C1 0,0 39 - link_all_at_end=false",
              kBlue),
       "D2", "kingdoms 21,2; points 0,21"},
      // Red links its last unlinked ringfort: Blue has nothing to swap and is
      // out; Red has no spare ringfort (decision 13). One kingdom each.
      {"D4 is left",
       Linked(kTwoBlocks + "0 link B1=C1 0,0 0 - -", kRed, Hills("C4"),
              Hills("D3")),
       "", "legal D3=D4 C4=D4"},
      {"out ends the game by the spare ringfort",
       Linked(kTwoBlocks + "0 link B1=C1 0,0 0 - -", kRed, Hills("C4"),
              Hills("D3")),
       "C4=D4", "phase finished; ended_by out; territory 23,22; points 3,0"},
      // The rulebook's figure 9-3: E1=F1 is still to be linked.
      {"the king protects the last unlinked ringfort, B2",
       Linked(kTwoBlocks + "0 link B1=C1 0,0 0 - -", kRed, Hills("A2 B2 D4 E1"),
              Hills("B1 B2")),
       "E1=F1", "phase finished; ending out:0"},
  });
}

}  // namespace
}  // namespace tara
