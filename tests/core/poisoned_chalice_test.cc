// Poisoned Chalice (docs/reference/rules.md section 8.1).

#include "tara/core/rules/poisoned_chalice.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/board.h"
#include "tests/core/core_testing.h"

namespace tara {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

// Four edges of five hills; a ringfort takes its own hill and the one
// opposite from everybody, and its edge from its own side.
TEST(PoisonedChaliceTest, ManoeuvresBuildOncePerEdgeAndNeverOpposite) {
  const State start = InitialState(Variant::kPoisonedChalice);
  EXPECT_THAT(LegalTexts(start), SizeIs(20));
  const State blue = After(start, "D1");
  EXPECT_THAT(LegalTexts(blue), SizeIs(18));  // not D1, not D7
  // Red is done with rank 1; D7 is opposite D1 and B7 is taken.
  EXPECT_THAT(LegalTexts(After(blue, "B7")),
              ElementsAre("A2", "G2", "A3", "G3", "A4", "G4", "A5", "G5", "A6",
                          "G6", "C7", "E7", "F7"));
}

// Red's rows are the files. A and G: two Red, one Blue: Red has more. B and C:
// no Blue. D: one Blue, no Red: qualified. E and F: nothing.
TEST(PoisonedChaliceTest, RedBuildsInQualifiedFiles) {
  EXPECT_THAT(LegalTexts(Position("poisoned_chalice 5/7/b5b/1rrb3/r5r/r5r/5 0 "
                                  "battle - 0,0 0 - -")),
              ElementsAre("D1", "D2", "D3", "D5", "D6", "D7"));
  // As many as the enemy still qualify: Red's D6.
  EXPECT_THAT(LegalTexts(Position("poisoned_chalice 5/3r3/b5b/1rrb3/r5r/r5r/5 "
                                  "0 battle - 0,0 0 - -")),
              ElementsAre("D1", "D2", "D3", "D5", "D7"));
}

// Blue's rows are the ranks. 2 and 3: two Red, no Blue; 4: two Red, one Blue;
// 5: no Red.
TEST(PoisonedChaliceTest, BlueBuildsInQualifiedRanks) {
  EXPECT_THAT(LegalTexts(Position("poisoned_chalice 5/7/b5b/1rrb3/r5r/r5r/5 1 "
                                  "battle - 0,0 0 - -")),
              ElementsAre("B2", "C2", "D2", "E2", "F2", "B3", "C3", "D3", "E3",
                          "F3", "A4", "E4", "F4", "G4"));
}

// A2 is besieged by A3 and B2. With Red's A3 and A5 file A has more Red than
// Blue: no qualified row, so Red must capture. Without A5 it is qualified, and
// comes before the capture.
TEST(PoisonedChaliceTest, CapturesOnlyWithoutAQualifiedRow) {
  EXPECT_THAT(LegalTexts(Position("poisoned_chalice 5/5r1/r1r4/6r/r3r2/br5/5 "
                                  "0 battle - 0,0 0 - -")),
              ElementsAre("A2"));
  EXPECT_THAT(LegalTexts(Position("poisoned_chalice 5/5r1/1rr4/6r/r3r2/br5/5 "
                                  "0 battle - 0,0 0 - -")),
              ElementsAre("A4", "A5", "A6"));
}

// File D has three Red and four Blue, but no vacant hill (decision 3); no
// other file has Blue and nothing is besieged: any of the 37 vacant hills.
TEST(PoisonedChaliceTest, AFullRowIsNotQualified) {
  EXPECT_THAT(LegalTexts(Position("poisoned_chalice 2b2/3b3/3b3/3b3/r2r3/3r3/"
                                  "2r2 0 battle - 0,0 0 - -")),
              SizeIs(37));
}

TEST(PoisonedChaliceTest, BattleStartsWithTheNinthTurn) {
  // One on each edge for each side, none opposite: e.g. D1, B7; C7, E1; A2,
  // A3; G4, G5.
  const State state =
      After(Variant::kPoisonedChalice, "D1 B7 C7 E1 A2 A3 G4 G5");
  EXPECT_EQ(state.phase, Phase::kBattle);
  EXPECT_EQ(state.seat, 0);
}

// The qualified rows of one board are counted by a faster form.
TEST(PoisonedChaliceTest, RowsByFieldsOfAWordAreThoseOfTheSimpleForm) {
  Random random(DeriveSeed(1, 0, StreamPurpose::kTest));
  for (int i = 0; i < 100000; ++i) {
    Board own = random() & kAllHills;
    if (i % 2 == 1) own &= random();
    const Board enemy = random() & kAllHills & ~own;
    ASSERT_EQ(rules::QualifiedFiles(own, enemy) & kAllHills,
              rules::QualifiedFiles<Board>(own, enemy) & kAllHills);
    ASSERT_EQ(rules::QualifiedRanks(own, enemy) & kAllHills,
              rules::QualifiedRanks<Board>(own, enemy) & kAllHills);
  }
}

}  // namespace
}  // namespace tara
