// The batched core plays the very games of the scalar core: equal statistics,
// every sum of them, whatever the instruction set.

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/instruction_set.h"
#include "tara/core/outcome.h"
#include "tara/core/playouts.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tests/core/core_testing.h"

namespace tara {
namespace {

using ::testing::ElementsAreArray;

class BatchTest
    : public ::testing::TestWithParam<std::tuple<VariantInfo, InstructionSet>> {
 protected:
  static const VariantInfo& variant() { return std::get<0>(GetParam()); }

  static PlayoutStatistics Play(const RuleOptions& options, uint64_t seed,
                                int64_t first_game, int64_t games) {
    return PlayRandomGames(variant().variant, options, seed, first_game, games,
                           std::get<1>(GetParam()));
  }

  // Plays the games both ways; returns what they came to.
  static PlayoutStatistics ExpectEqual(const RuleOptions& options,
                                       uint64_t seed, int64_t first_game,
                                       int64_t games) {
    const PlayoutStatistics batched = Play(options, seed, first_game, games);
    const PlayoutStatistics scalar = PlayRandomGamesByPublicRules(
        variant().variant, options, seed, first_game, games);
    SCOPED_TRACE(absl::StrCat(FormatRuleOptions(options), " seed ", seed,
                              " games ", first_game, " + ", games));
    EXPECT_EQ(batched.games, games);
    // Those that tell most of what went wrong; then all.
    EXPECT_EQ(batched.plies, scalar.plies);
    EXPECT_EQ(batched.legal_actions, scalar.legal_actions);
    EXPECT_EQ(batched.captures, scalar.captures);
    EXPECT_EQ(batched.kings_captured, scalar.kings_captured);
    EXPECT_THAT(batched.phase_plies, ElementsAreArray(scalar.phase_plies));
    EXPECT_THAT(batched.margins, ElementsAreArray(scalar.margins));
    EXPECT_THAT(batched.endings, ElementsAreArray(scalar.endings));
    EXPECT_TRUE(batched == scalar);
    return batched;
  }
};

TEST_P(BatchTest, PlaysTheGamesOfTheScalarCore) {
  // Over all instruction sets and variants some 60 million plies.
  const PlayoutStatistics played = ExpectEqual({}, 1, 0, 40000);
  // What is rare in random play happens in these games, or they say little.
  const auto ended_by = [&played](Ending ending) {
    return played.endings[static_cast<size_t>(ending)];
  };
  if (variant().family != Family::kHighKings) {
    EXPECT_GT(ended_by(Ending::kOut), 0);
    return;
  }
  EXPECT_GT(played.captures, 0);
  for (const Ending ending : {Ending::kDoubleCapture, Ending::kPassed,
                              Ending::kBoardFull, Ending::kNoProgress}) {
    EXPECT_GT(ended_by(ending), 0) << EndingName(ending);
  }
}

TEST_P(BatchTest, PlaysAnyNumberOfGames) {
  for (const int64_t games :
       {0, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 65, 127}) {
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
  for (const RuleOptions& options : EachRuleOption(variant())) {
    ExpectEqual(options, 4, 0, 501);
  }
}

TEST_P(BatchTest, PartsAddUpToTheWhole) {
  PlayoutStatistics parts = Play({}, 5, 100, 77);
  parts += Play({}, 5, 0, 100);
  parts += Play({}, 5, 177, 23);
  EXPECT_EQ(parts, Play({}, 5, 0, 200));
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
TEST_P(BatchTest, SkipsTurnsOfHighKings) {
  std::vector<int64_t> games;
  if (variant().variant == Variant::kHighKingsL1) {
    games = {43541, 69329, 106320, 171797, 274897, 488336};
  } else if (variant().variant == Variant::kHighKingsL2) {
    games = {1057, 1832, 9697, 28083, 31530, 42733};
  }
  for (const int64_t game : games) {
    EXPECT_GT(SkippedTurns(variant().variant, game), 0) << game;
    ExpectEqual({}, 1, game, 1);
    ExpectEqual({}, 1, game - 50, 100);
  }
}

// In one of 60000 random games of Level 2 a stranded king has no move while the
// enemy's is stranded, too: it is lost, the other is not.
TEST_P(BatchTest, CapturesStrandedKingsByDefault) {
  if (variant().variant != Variant::kHighKingsL2) return;
  for (const int64_t game : {16742, 81842, 85801, 141156, 165554, 231151}) {
    const PlayoutStatistics played = ExpectEqual({}, 1, game, 1);
    EXPECT_EQ(played.kings_captured, 3) << game;
    EXPECT_EQ(played.results[1], 0) << game;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, BatchTest,
    ::testing::Combine(::testing::ValuesIn(kVariants),
                       ::testing::ValuesIn(SupportedInstructionSets())),
    [](const ::testing::TestParamInfo<BatchTest::ParamType>& info) {
      return absl::StrCat(std::get<0>(info.param).id, "_",
                          InstructionSetName(std::get<1>(info.param)));
    });

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
