#include "tara/mcts/solver/solver_table.h"

#include <array>
#include <cstdint>
#include <map>

#include "absl/base/casts.h"
#include "gtest/gtest.h"
#include "tara/core/rules/view.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tests/mcts/positions.h"

namespace tara::mcts {
namespace {

using rules::View;
using StateWords = std::array<uint64_t, 8>;

// Checks that packing tells apart all positions of random games, and takes
// none apart, and leaves the table's bits alone.
template <int kWords, typename Pack>
void ExpectLossless(const VariantInfo& info, Pack pack) {
  std::map<PackedPosition<kWords>, StateWords> seen;
  int met_again = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    for (const State& state : RandomGame(info.variant, seed)) {
      if (state.finished()) continue;
      const PackedPosition<kWords> packed = pack(View(state));
      EXPECT_EQ(packed[0] & ~kPositionOfWord0, 0u);
      EXPECT_EQ(packed[1] & ~kPositionOfWord1, 0u);
      if (kWords == 4) {
        EXPECT_EQ(packed[kWords - 1] & ~kPositionOfWord3, 0u);
      }
      State kept = state;
      if (info.family == Family::kHighKings) kept.no_progress = 0;
      const auto words = absl::bit_cast<StateWords>(kept);
      const auto [place, is_new] = seen.emplace(packed, words);
      met_again += !is_new;
      EXPECT_EQ(place->second, words);
    }
  }
  EXPECT_GE(met_again, 199);  // the start of each game
}

class SolverTableTest : public testing::TestWithParam<VariantInfo> {};

INSTANTIATE_TEST_SUITE_P(AllVariants, SolverTableTest,
                         testing::ValuesIn(kVariants), VariantTestName);

TEST_P(SolverTableTest, PackingAPositionLosesNothing) {
  ExpectLossless<4>(GetParam(), PackPosition);
  const Family family = GetParam().family;
  if (family == Family::kHighKings || family == Family::kStoneOfDestiny) return;
  ExpectLossless<2>(GetParam(), PackHillPosition);
}

PackedPosition<2> Position(uint64_t number) {
  return {number % 97, number / 97 + (number << 20)};
}

TEST(SolverTableTest, FindsWhatWasStoredAndNothingElse) {
  SolverTable<2> table(0);
  for (uint64_t i = 0; i < 100'000; ++i) {
    const int value = static_cast<int>(i % 95) - 47;
    table.Store(Position(i), static_cast<int>(i % 16),
                {.lower = value, .upper = 47, .best = static_cast<int>(i % 64)},
                static_cast<int>(i % 32));
    SolverBounds bounds;
    ASSERT_TRUE(table.Find(Position(i), static_cast<int>(i % 16), bounds));
    EXPECT_EQ(bounds.lower, value);
    EXPECT_EQ(bounds.upper, 47);
    EXPECT_EQ(bounds.best, static_cast<int>(i % 64));
    // Another game, and a position that was never stored: the table is so
    // small that its places are shared by thousands.
    EXPECT_FALSE(
        table.Find(Position(i), static_cast<int>((i + 1) % 16), bounds));
    EXPECT_FALSE(
        table.Find(Position(i + 1'000'000), static_cast<int>(i % 16), bounds));
  }
}

TEST(SolverTableTest, AnOlderEntryOfAPositionMakesWayForItsNewOne) {
  SolverTable<4> table(0);
  const PackedPosition<4> position = {1, 2, 3, 4};
  table.Store(position, 3, {.lower = -47, .upper = 5, .best = 1}, 31);
  table.Store(position, 3,
              {.lower = 4, .upper = 5, .best = 2, .no_progress = 255}, 0);
  SolverBounds bounds;
  ASSERT_TRUE(table.Find(position, 3, bounds));
  EXPECT_EQ(bounds.lower, 4);
  EXPECT_EQ(bounds.best, 2);
  EXPECT_EQ(bounds.no_progress, 255);
  table.Clear();
  EXPECT_FALSE(table.Find(position, 3, bounds));
}

TEST(SolverTableTest, KeepsWhatWasDearLongerThanWhatWasCheap) {
  SolverTable<2> table(0);
  table.Store(Position(0), 0, {.lower = 0, .upper = 0}, 20);
  SolverBounds bounds;
  for (uint64_t i = 1; i < 100; ++i) {
    table.Store(Position(i), 0, {.lower = 0, .upper = 0}, 2);
  }
  EXPECT_TRUE(table.Find(Position(0), 0, bounds));
  // But not for ever.
  for (uint64_t i = 100; i < 2000; ++i) {
    table.Store(Position(i), 0, {.lower = 0, .upper = 0}, 12);
  }
  EXPECT_FALSE(table.Find(Position(0), 0, bounds));
}

}  // namespace
}  // namespace tara::mcts
