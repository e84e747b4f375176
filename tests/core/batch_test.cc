// The batched core plays the very games of the scalar core: equal statistics,
// every sum of them, whatever the instruction set.

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tara/core/game_batch.h"
#include "tara/core/instruction_set.h"
#include "tara/core/playouts.h"
#include "tara/core/rule_options.h"
#include "tara/core/variant.h"
#include "tests/core/core_testing.h"

namespace tara {
namespace {

class BatchTest
    : public ::testing::TestWithParam<std::tuple<VariantInfo, InstructionSet>> {
 protected:
  static const VariantInfo& variant() { return std::get<0>(GetParam()); }

  static PlayoutStatistics Play(const RuleOptions& options, uint64_t seed,
                                int64_t first_game, int64_t games) {
    return PlayRandomGames(variant().variant, options, seed, first_game, games,
                           std::get<1>(GetParam()));
  }

  static void ExpectEqual(const RuleOptions& options, uint64_t seed,
                          int64_t first_game, int64_t games) {
    const PlayoutStatistics batched = Play(options, seed, first_game, games);
    const PlayoutStatistics scalar = PlayRandomGamesByPublicRules(
        variant().variant, options, seed, first_game, games);
    EXPECT_EQ(batched.plies, scalar.plies);
    EXPECT_EQ(batched.legal_actions, scalar.legal_actions);
    EXPECT_EQ(batched.captures, scalar.captures);
    EXPECT_EQ(batched.phase_plies, scalar.phase_plies);
    EXPECT_EQ(batched.margins, scalar.margins);
    EXPECT_EQ(batched.endings, scalar.endings);
    EXPECT_TRUE(batched == scalar)
        << "seed " << seed << ", games " << first_game << " and on: " << games;
  }
};

TEST_P(BatchTest, PlaysTheGamesOfTheScalarCore) {
  // Over all instruction sets and variants some 60 million plies.
  ExpectEqual({}, 1, 0, 40000);
}

TEST_P(BatchTest, PlaysAnyNumberOfGames) {
  for (const int64_t games : {0, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33}) {
    ExpectEqual({}, 2, 1000, games);
  }
}

TEST_P(BatchTest, PlaysGamesOfAnyIndexAndSeed) {
  ExpectEqual({}, 0, int64_t{1} << 40, 65);
  ExpectEqual({}, ~uint64_t{0}, 12345, 65);
}

TEST_P(BatchTest, KeepsToRuleOptions) {
  ExpectEqual(ChangedOptions(variant()), 3, 0, 500);
  ExpectEqual(ChangedOptionsOfLanes(variant()), 3, 0, 2000);
  for (const RuleOptionInfo& option : kRuleOptions) {
    if (!option.applies_to(variant())) continue;
    for (int value = option.min_value; value <= std::min(option.max_value, 5);
         ++value) {
      RuleOptions options;
      option.set(options, value);
      ExpectEqual(options, 4, 0, 300);
    }
  }
}

TEST_P(BatchTest, PartsAddUpToTheWhole) {
  PlayoutStatistics parts = Play({}, 5, 100, 77);
  parts += Play({}, 5, 0, 100);
  parts += Play({}, 5, 177, 23);
  EXPECT_EQ(parts, Play({}, 5, 0, 200));
}

std::string Name(
    const ::testing::TestParamInfo<std::tuple<VariantInfo, InstructionSet>>&
        info) {
  return absl::StrCat(std::get<0>(info.param).id, "_",
                      InstructionSetName(std::get<1>(info.param)));
}

INSTANTIATE_TEST_SUITE_P(
    All, BatchTest,
    ::testing::Combine(::testing::ValuesIn(kVariants),
                       ::testing::ValuesIn(SupportedInstructionSets())),
    Name);

TEST(InstructionSetTest, EveryProcessorHasThePortableOneAndTheFastestIsLast) {
  const std::vector<InstructionSet> sets = SupportedInstructionSets();
  ASSERT_FALSE(sets.empty());
  EXPECT_EQ(sets.front(), InstructionSet::kPortable);
  for (size_t i = 1; i < sets.size(); ++i) EXPECT_LT(sets[i - 1], sets[i]);
}

// The tests of the batched core and of the batched encoder run for the
// instruction sets of this processor: one that it lacks shows here as skipped.
class EveryInstructionSetTest
    : public ::testing::TestWithParam<InstructionSet> {};

TEST_P(EveryInstructionSetTest, IsTestedOnThisProcessor) {
  const std::vector<InstructionSet> sets = SupportedInstructionSets();
  if (std::find(sets.begin(), sets.end(), GetParam()) == sets.end()) {
    GTEST_SKIP() << "this processor lacks " << InstructionSetName(GetParam())
                 << ": nothing is tested with it";
  }
}

INSTANTIATE_TEST_SUITE_P(, EveryInstructionSetTest,
                         ::testing::Values(InstructionSet::kPortable,
                                           InstructionSet::kAvx2,
                                           InstructionSet::kAvx512),
                         [](const auto& info) {
                           return std::string(InstructionSetName(info.param));
                         });
static_assert(kNumInstructionSets == 3, "and those above");

}  // namespace
}  // namespace tara
