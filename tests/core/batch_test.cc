// The batched core plays the very games of the scalar core: equal statistics,
// every sum of them, whatever the instruction set.

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/instruction_set.h"
#include "tara/core/playouts.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
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

// --- Batch kings -------------------------------------------------------------

// High Kings and Stone of Destiny in lanes play the very games of the scalar
// core: equal statistics, every sum of them.

constexpr Variant kKings[] = {Variant::kHighKingsL1, Variant::kHighKingsL2,
                              Variant::kStoneOfDestiny};

struct Case {
  Variant variant;
  InstructionSet instruction_set;

  friend std::ostream& operator<<(std::ostream& out, const Case& test) {
    return out << Info(test.variant).id << " "
               << InstructionSetName(test.instruction_set);
  }
};

std::vector<Case> AllCases() {
  std::vector<Case> cases;
  for (const Variant variant : kKings) {
    for (const InstructionSet set : SupportedInstructionSets()) {
      cases.push_back({variant, set});
    }
  }
  return cases;
}

class BatchKingsTest : public ::testing::TestWithParam<Case> {
 protected:
  // Plays the games both ways.
  static void ExpectSameStatistics(const RuleOptions& options, uint64_t seed,
                                   int64_t first_game, int64_t games) {
    const Variant variant = GetParam().variant;
    const PlayoutStatistics expected =
        PlayRandomGamesByPublicRules(variant, options, seed, first_game, games);
    const PlayoutStatistics played = PlayRandomGames(
        variant, options, seed, first_game, games, GetParam().instruction_set);
    SCOPED_TRACE(absl::StrCat(FormatRuleOptions(options), " seed ", seed,
                              " games ", first_game, " + ", games));
    // Those that tell most of what went wrong; then all.
    EXPECT_EQ(played.games, expected.games);
    EXPECT_EQ(played.plies, expected.plies);
    EXPECT_EQ(played.legal_actions, expected.legal_actions);
    EXPECT_EQ(played.captures, expected.captures);
    EXPECT_EQ(played.kings_captured, expected.kings_captured);
    EXPECT_EQ(played.endings, expected.endings);
    EXPECT_EQ(played.phase_plies, expected.phase_plies);
    EXPECT_TRUE(played == expected);
  }
};

TEST_P(BatchKingsTest, PlaysTheGamesOfTheScalarCore) {
  // A game is 50 plies or more: a million plies in all.
  ExpectSameStatistics({}, /*seed=*/1, /*first_game=*/0, /*games=*/20000);
  for (const uint64_t seed : {2, 3, 4}) {
    ExpectSameStatistics({}, seed, /*first_game=*/1000000007, 1000);
  }
}

TEST_P(BatchKingsTest, PlaysAnyNumberOfGames) {
  for (const int64_t games : {0, 1, 2, 3, 7, 8, 9, 31, 32, 33, 63, 65, 127}) {
    ExpectSameStatistics({}, /*seed=*/5, /*first_game=*/games, games);
  }
}

TEST_P(BatchKingsTest, PartsAddUpToTheWhole) {
  const auto play = [](int64_t first_game, int64_t games) {
    return PlayRandomGames(GetParam().variant, {}, /*seed=*/6, first_game,
                           games, GetParam().instruction_set);
  };
  PlayoutStatistics parts = play(77, 223);
  parts += play(0, 77);
  EXPECT_TRUE(parts == play(0, 300));
}

TEST_P(BatchKingsTest, FollowsEveryRuleOption) {
  const VariantInfo& variant = Info(GetParam().variant);
  for (const RuleOptionInfo& option : kRuleOptions) {
    if (!option.applies_to(variant)) continue;
    for (int value = option.min_value; value <= option.max_value;
         value += value < 12 ? 1 : 81) {
      RuleOptions options;
      option.set(options, value);
      ExpectSameStatistics(options, /*seed=*/7, /*first_game=*/0,
                           /*games=*/501);
    }
  }
  for (const uint64_t seed : {8, 9, 10}) {
    ExpectSameStatistics(ChangedOptionsOfLanes(variant), seed,
                         /*first_game=*/0, /*games=*/1999);
  }
}

// Number of turns that the seats of a game of seed 1 have to skip.
int SkippedTurns(Variant variant, int64_t game) {
  Random random(
      DeriveSeed(1, static_cast<uint64_t>(game), StreamPurpose::kPlayouts));
  State state = InitialState(variant);
  int skipped = 0;
  while (!state.finished()) {
    const Side side = state.side();
    const LegalSet legal = LegalActions(state);
    ApplyAction(legal.Nth(ChooseNth(random(), legal.Count())), state);
    skipped += !state.finished() && state.side() == side;
  }
  return skipped;
}

// A turn is skipped in one of 100000 random games of Level 1, and in one of
// 6000 of Level 2. (These were found with the scalar core.)
TEST_P(BatchKingsTest, SkipsTurns) {
  std::vector<int64_t> games;
  if (GetParam().variant == Variant::kHighKingsL1) {
    games = {43541, 69329, 106320, 171797, 274897, 488336};
  } else if (GetParam().variant == Variant::kHighKingsL2) {
    games = {1057, 1832, 9697, 28083, 31530, 42733};
  }
  for (const int64_t game : games) {
    EXPECT_GT(SkippedTurns(GetParam().variant, game), 0) << game;
    ExpectSameStatistics({}, /*seed=*/1, game, 1);
    ExpectSameStatistics({}, /*seed=*/1, game - 50, 100);
  }
}

// In one of 60000 random games of Level 2 a stranded king has no move while the
// enemy's is stranded, too: it is lost, the other is not.
TEST_P(BatchKingsTest, CapturesStrandedKingsByDefault) {
  if (GetParam().variant != Variant::kHighKingsL2) return;
  for (const int64_t game : {16742, 81842, 85801, 141156, 165554, 231151}) {
    const PlayoutStatistics played =
        PlayRandomGames(GetParam().variant, {}, /*seed=*/1, game, 1,
                        GetParam().instruction_set);
    EXPECT_EQ(played.kings_captured, 3) << game;
    EXPECT_EQ(played.results[1], 0) << game;
    ExpectSameStatistics({}, /*seed=*/1, game, 1);
  }
}

// What is rare in random play happens in these games, or the tests above say
// little about it.
TEST_P(BatchKingsTest, TheGamesPlayedHoldTheRareEvents) {
  const auto play = [](const RuleOptions& options, int64_t games) {
    return PlayRandomGames(GetParam().variant, options, /*seed=*/1, 0, games,
                           GetParam().instruction_set);
  };
  const auto endings = [](const PlayoutStatistics& statistics, Ending ending) {
    return statistics.endings[static_cast<size_t>(ending)];
  };
  const PlayoutStatistics statistics = play({}, 20000);
  if (GetParam().variant == Variant::kStoneOfDestiny) {
    EXPECT_GT(endings(statistics, Ending::kOut), 0);
    RuleOptions hasty;
    hasty.no_progress_limit = 1;
    EXPECT_GT(endings(play(hasty, 2000), Ending::kNoProgress), 0);
    return;
  }
  EXPECT_GT(endings(statistics, Ending::kDoubleCapture), 0);
  EXPECT_GT(endings(statistics, Ending::kPassed), 0);
  EXPECT_GT(endings(statistics, Ending::kBoardFull), 0);
  EXPECT_GT(endings(statistics, Ending::kNoProgress), 0);
  EXPECT_GT(statistics.captures, 0);
}

INSTANTIATE_TEST_SUITE_P(Kings, BatchKingsTest, ::testing::ValuesIn(AllCases()),
                         [](const ::testing::TestParamInfo<Case>& info) {
                           return absl::StrCat(
                               Info(info.param.variant).id, "_",
                               InstructionSetName(info.param.instruction_set));
                         });

}  // namespace
}  // namespace tara
