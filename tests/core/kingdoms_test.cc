#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"

namespace tara {
namespace {

// The simple twin: fills one component after the other.
int CountByFilling(Board hills) {
  int components = 0;
  for (Board rest = hills; rest != 0; ++components) {
    Board group = FirstBit(rest);
    for (Board grown = 0; grown != group;) {
      grown = group;
      group |= Adjacent(group) & hills;
    }
    rest &= ~group;
  }
  return components;
}

TEST(KingdomsTest, ShapesThatAreEasyToGetWrong) {
  // A ring with a kingdom inside.
  const Board centre = BoardOf(HillAt(3, 3));
  const Board ring = Adjacent(centre) | Diagonal(centre);
  EXPECT_EQ(CountComponents(ring), 1);
  const Board wide = kAllHills & ~ring;
  EXPECT_EQ(CountComponents(wide), 2);
  // Diagonal neighbours are not adjacent.
  EXPECT_EQ(CountComponents(Diagonal(centre)), 4);
}

TEST(KingdomsTest, RandomBoardsOfEveryDensityAgreeWithFilling) {
  Random random(1);
  for (int i = 0; i < 300000; ++i) {
    Board hills = random();
    if (i % 4 == 1) hills &= random();
    if (i % 4 == 2) hills |= random();
    if (i % 4 == 3) hills |= random() | random();
    hills &= kAllHills;
    ASSERT_EQ(CountComponents(hills), CountByFilling(hills)) << hills;
  }
}

TEST(KingdomsTest, BothSidesAtOnceAreWhatEachIsByItself) {
  Random random(2);
  for (int i = 0; i < 300000; ++i) {
    Board red = random();
    // Dense boards have holes, and holes in holes.
    if (i % 4 != 0) red |= random();
    if (i % 4 > 1) red |= random();
    red &= kAllHills;
    const Board vacant = i % 3 == 0 ? random() & random() : 0;
    const Board blue = kAllHills & ~red & ~vacant;
    const auto [of_red, of_blue] = CountComponentsOfBoth(red, blue);
    ASSERT_EQ(of_red, CountByFilling(red)) << red;
    ASSERT_EQ(of_blue, CountByFilling(blue)) << blue;
  }
}

}  // namespace
}  // namespace tara
