#include "tara/core/bits.h"

#include <bit>
#include <vector>

#include "gtest/gtest.h"
#include "tara/base/random.h"

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
        const LinkBit link = NthLink(east, north, n++);
        EXPECT_EQ(link.east, first);
        EXPECT_EQ(link.north, 0u);
      }
      if (north & first) {
        const LinkBit link = NthLink(east, north, n++);
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

}  // namespace
}  // namespace tara
