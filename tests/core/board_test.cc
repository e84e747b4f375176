#include "tara/core/board.h"

#include <bit>
#include <vector>

#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/bits.h"
#include "tara/core/outcome.h"

namespace tara {
namespace {

constexpr int kWords = 10000;

TEST(BitsTest, BitsToAndBitsAtAreInverse) {
  EXPECT_EQ(BitsTo(0b101, 0b110100), 0b100100u);
  EXPECT_EQ(BitsAt(0b100111, 0b110100), 0b101u);
  Random random(1);
  for (int i = 0; i < kWords; ++i) {
    const uint64_t places = random();
    const uint64_t bits =
        random() & ((uint64_t{1} << std::popcount(places)) - 1);
    EXPECT_EQ(BitsTo(bits, places) & ~places, 0u);
    EXPECT_EQ(BitsAt(BitsTo(bits, places), places), bits);
  }
}

TEST(BitsTest, NthBitCountsFromTheLowest) {
  Random random(2);
  for (int i = 0; i < kWords; ++i) {
    const uint64_t word = random() & random();
    uint64_t rest = word;
    for (int n = 0; rest != 0; ++n, rest &= rest - 1) {
      EXPECT_EQ(NthBit(word, n), uint64_t{1} << std::countr_zero(rest));
    }
  }
}

TEST(BitsTest, NthLinkMergesEastBeforeNorth) {
  Random random(3);
  for (int i = 0; i < kWords; ++i) {
    const uint64_t east = random() & random();
    const uint64_t north = random() & random();
    int n = 0;
    for (int bit = 0; bit < 64; ++bit) {
      const uint64_t first = uint64_t{1} << bit;
      if (east & first) {
        const HillPairs link = NthLink(east, north, n++);
        EXPECT_EQ(link.east, first);
        EXPECT_EQ(link.north, 0u);
      }
      if (north & first) {
        const HillPairs link = NthLink(east, north, n++);
        EXPECT_EQ(link.east, 0u);
        EXPECT_EQ(link.north, first);
      }
    }
  }
}

TEST(BitsTest, UnrolledCountsUp) {
  std::vector<int> seen;
  Unrolled<3>([&](auto i) { seen.push_back(i); });
  EXPECT_EQ(seen, (std::vector<int>{0, 1, 2}));
}

// --- Kingdoms ----------------------------------------------------------------

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
