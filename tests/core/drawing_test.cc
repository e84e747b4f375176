#include "tara/core/drawing.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/core_testing.h"

namespace tara {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Red besieges A2 and must capture it; C5, D5 and D6 are linked.
TEST(DrawingTest, DrawsRingfortsBridgesAndMarksInAscii) {
  const State state =
      Position("sacred_hill_l1 5/3b3/2bb3/7/r6/br5/5 0 battle - 0,0 0 - -");
  EXPECT_EQ("\n" + DrawBoard(state, {.unicode = false,
                                     .colour = false,
                                     .highlight = LegalActions(state)}),
            R"(
   A     B     C     D     E     F     G
7        .     .     .     .     .          7

6  .     .     .     x     .     .     .    6
                     |
5  .     .     x --- x     .     .     .    5

4  .     .     .     .     .     .     .    4

3  o     .     .     .     .     .     .    3

2 [x]    o     .     .     .     .     .    2

1        .     .     .     .     .          1
   A     B     C     D     E     F     G

Sacred Hill, Level 1. Red to move (seat 0), battle.
Red ringforts: 2, kingdoms: 2. Blue ringforts: 4, kingdoms: 2.
)");
}

TEST(DrawingTest, DrawsTheSameInUnicode) {
  const State state =
      Position("sacred_hill_l1 5/3b3/2bb3/7/rr5/br5/5 0 battle - 0,0 0 - -");
  const std::string drawing =
      DrawBoard(state, {.highlight = LegalActions(state)});
  EXPECT_THAT(drawing, HasSubstr("○ ─── ○"));
  EXPECT_THAT(drawing, HasSubstr("● ━━━ ●"));
  EXPECT_THAT(drawing, HasSubstr("[○]    ●"));
  EXPECT_THAT(drawing, Not(HasSubstr("\x1b")));
}

TEST(DrawingTest, DrawsKingsAndStrandedKings) {
  const State state = Position(
      "high_kings_l2 bbbbb/bBbBbBb/bbbbbbb/Sbr1b1b/brrrrrr/rrrRrrr/rrrrr 0 "
      "battle - 0,1 0 - -");
  EXPECT_THAT(DrawBoard(state, {.unicode = false}), HasSubstr("4  K!--- x"));
  EXPECT_THAT(DrawBoard(state, {.unicode = false}),
              HasSubstr("6  x --- Q --- x"));
  EXPECT_THAT(DrawBoard(state), HasSubstr("♚!"));
  EXPECT_THAT(DrawBoard(state), HasSubstr("♔"));
  // Where the stranded king may go is marked.
  EXPECT_THAT(DrawBoard(state, {.unicode = false,
                                .colour = false,
                                .highlight = LegalActions(state)}),
              HasSubstr("2  o ===[o]=== o"));
}

// In Stone of Destiny only links are bridges; those that may be built are
// dotted.
TEST(DrawingTest, DrawsLinksAndWhereOneMayLink) {
  const State state = Position(
      "stone_of_destiny bbbbb/bbbbbBb/bbbbbbb/rrrrbbb/rrrrrrr/rRrrrrr/rrrrr 0 "
      "link B1=C1 0,0 0 - -");
  const std::string drawing = DrawBoard(
      state,
      {.unicode = false, .colour = false, .highlight = LegalActions(state)});
  EXPECT_THAT(drawing, HasSubstr("1        o === o ... o ... o ... o"));
  EXPECT_THAT(drawing, HasSubstr("         :     :     :     :     :"));
  EXPECT_THAT(drawing, HasSubstr("4  o ... o ... o ... o     x     x"));
}

TEST(DrawingTest, ColoursTheSidesWhenAsked) {
  const State state = After(Variant::kFourTreasures, "D4 D5");
  const std::string drawing =
      DrawBoard(state, {.unicode = false, .colour = true});
  EXPECT_THAT(drawing, HasSubstr("\x1b[1;31mo\x1b[0m"));
  EXPECT_THAT(drawing, HasSubstr("\x1b[1;34mx\x1b[0m"));
}

TEST(DescribeStateTest, NamesSeatsCountersAndResults) {
  EXPECT_EQ(SeatName(Variant::kFourTreasures, 1), "Blue");
  EXPECT_EQ(SeatName(Variant::kFourTreasuresDoubles, 0), "Red South");
  EXPECT_EQ(SeatName(Variant::kFourTreasuresDoubles, 3), "Blue East");
  EXPECT_THAT(
      DescribeState(Position("sacred_hill_doubles_l1 5/7/7/3r3/3b3/7/5 2 "
                             "battle - 0,0 0 out:3 -")),
      HasSubstr("Red North to move (seat 2), battle. Ends (out), turns left: "
                "3."));
  EXPECT_THAT(
      DescribeState(Position(
          "high_kings_l1 bbbbb/bBbBbBb/bbbbbbb/r1r1b1b/rrrrrrr/rRrRrRr/rrrrr "
          "0 battle - 0,0 7 - -")),
      HasSubstr("Without progress: 7 of 40."));
  // One kingdom to two and one captured king: 2 + 1 + 1.
  EXPECT_EQ(
      DescribeState(Position("high_kings_l1 5/7/7/3r3/7/b5b/5 - finished - 1,0 "
                             "12 passed:0 -")),
      "High Kings of Tara, Level 1. Finished (passed): Red 4, Blue 0.\n"
      "Red ringforts: 1, kingdoms: 1, kings captured: 1. "
      "Blue ringforts: 2, kingdoms: 2, kings captured: 0.");
  EXPECT_THAT(
      DescribeState(Position("four_treasures 5/7/7/3rr2/3b3/7/5 0 battle - 0,0 "
                             "0 - -")),
      HasSubstr("Red ringforts: 2, kingdoms: 1, bridges: 1."));
}

}  // namespace
}  // namespace tara
