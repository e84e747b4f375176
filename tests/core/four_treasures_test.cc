// Four Treasures (docs/reference/rules.md section 6).

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/core/outcome.h"
#include "tests/core/core_testing.h"

namespace tara {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(FourTreasuresTest, MustCaptureABesiegedSingleElseBuildsAnywhere) {
  EXPECT_THAT(LegalTexts(Position("four_treasures 5/7/7/7/r6/br5/5 0 battle - "
                                  "0,0 0 - -")),
              ElementsAre("A2"));
  EXPECT_THAT(LegalTexts(Position("four_treasures 5/7/7/7/7/br5/5 0 battle - "
                                  "0,0 0 - -")),
              SizeIs(43));
}

// Blue holds ranks 6 and 7: 6 + 4 bridges along the ranks, 5 between them: 15.
// Red holds ranks 1 to 5: 4 + 4 * 6 along, 5 + 3 * 7 between: 54, but a side
// has 40. Red scores 2 + (40 - 15) = 27.
TEST(FourTreasuresTest, ASideHasFortyBridges) {
  const Outcome outcome = Score(Position(
      "four_treasures bbbbb/bbbbbbb/rrrrrrr/rrrrrrr/rrrrrrr/rrrrrrr/rrrrr - "
      "finished - 0,0 0 out:0 -"));
  EXPECT_THAT(outcome.bridges, ElementsAre(40, 15));
  EXPECT_THAT(outcome.points, ElementsAre(27, 0));
}

// Kingdoms do not count: Blue has fewer (1 to 2) but also fewer bridges.
TEST(FourTreasuresTest, BridgesDecideNotKingdoms) {
  const Outcome outcome = Score(Position(
      "four_treasures 5/7/rr3rr/7/7/3b3/5 - finished - 0,0 0 out:0 -"));
  EXPECT_THAT(outcome.kingdoms, ElementsAre(2, 1));
  EXPECT_THAT(outcome.points, ElementsAre(4, 0));  // 2 + (2 - 0)
}

TEST(FourTreasuresTest, EqualBridgesAreDecidedByTerritory) {
  EXPECT_THAT(Score(Position("four_treasures 5/7/7/r2b2b/7/7/5 - finished - "
                             "0,0 0 out:0 -"))
                  .points,
              ElementsAre(0, 3));  // 2 + (2 - 1)
}

TEST(FourTreasuresTest, EqualInBothIsOnePointEach) {
  const Outcome outcome =
      Score(Position("four_treasures_doubles 5/7/7/r5b/7/7/5 - finished - 0,0 "
                     "0 out:0 -"));
  EXPECT_THAT(outcome.points, ElementsAre(1, 1));
  EXPECT_EQ(outcome.winner(), -1);
}

// No shared-row rule: the first turn may be anywhere in the own area.
TEST(FourTreasuresTest, DoublesSeatsBuildInTheirAreas) {
  const State south = InitialState(Variant::kFourTreasuresDoubles);
  EXPECT_THAT(LegalTexts(south), SizeIs(26));
  const State west = After(south, "G2");  // outside West
  EXPECT_THAT(LegalTexts(west), SizeIs(26));
  EXPECT_EQ(
      LegalActions(west).hills & (FileBoard(4) | FileBoard(5) | FileBoard(6)),
      0u);
}

}  // namespace
}  // namespace tara
