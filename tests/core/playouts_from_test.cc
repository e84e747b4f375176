// Random games from given positions: every way of playing them plays the very
// games of the public rules.

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/game_batch.h"
#include "tara/core/instruction_set.h"
#include "tara/core/playouts.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tests/core/core_testing.h"

namespace tara {
namespace {

// Positions of random games, in the order of play, without the finished ones.
std::vector<State> PositionsOf(Variant variant, const RuleOptions& options,
                               int games, uint64_t first_seed = 0) {
  std::vector<State> positions;
  for (int i = 0; i < games; ++i) {
    PlayRandomGame(InitialState(variant, options), first_seed + i,
                   [&](const State& state, const LegalSet&) {
                     if (!state.finished()) positions.push_back(state);
                   });
  }
  return positions;
}

std::vector<uint64_t> Seeds(size_t count) {
  std::vector<uint64_t> seeds(count);
  for (size_t i = 0; i < count; ++i) seeds[i] = MixBits(i);
  return seeds;
}

using PlayFrom = void (*)(const State&, uint64_t, absl::Span<int8_t>);

std::vector<int8_t> OneByOne(PlayFrom play, absl::Span<const State> starts,
                             absl::Span<const uint64_t> seeds, int playouts) {
  std::vector<int8_t> margins(starts.size() * playouts, 99);
  for (size_t i = 0; i < starts.size(); ++i) {
    play(starts[i], seeds[i],
         absl::MakeSpan(margins).subspan(i * playouts, playouts));
  }
  return margins;
}

std::vector<int8_t> InLanes(absl::Span<const State> starts,
                            absl::Span<const uint64_t> seeds, int playouts,
                            InstructionSet instruction_set) {
  std::vector<int8_t> margins(starts.size() * playouts, 99);
  PlayRandomGamesFrom(starts, seeds, playouts, instruction_set,
                      absl::MakeSpan(margins));
  return margins;
}

std::vector<int8_t> ByPublicRules(absl::Span<const State> starts,
                                  absl::Span<const uint64_t> seeds,
                                  int playouts) {
  return OneByOne(&PlayRandomGamesFromByPublicRules, starts, seeds, playouts);
}

class PlayoutsFromTest : public ::testing::TestWithParam<VariantInfo> {};

TEST_P(PlayoutsFromTest, ScalarPlaysTheGamesOfThePublicRules) {
  for (const RuleOptions& options :
       {RuleOptions(), ChangedOptions(GetParam())}) {
    const std::vector<State> starts =
        PositionsOf(GetParam().variant, options, 40);
    const std::vector<uint64_t> seeds = Seeds(starts.size());
    for (const int playouts : {1, 2, 5}) {
      EXPECT_EQ(OneByOne(&PlayRandomGamesFromScalar, starts, seeds, playouts),
                ByPublicRules(starts, seeds, playouts));
    }
  }
}

TEST_P(PlayoutsFromTest, PlayoutsOfAPositionDiffer) {
  const State start = InitialState(GetParam().variant);
  std::vector<int8_t> margins(50);
  PlayRandomGamesFromScalar(start, 1, absl::MakeSpan(margins));
  EXPECT_GT(std::set<int8_t>(margins.begin(), margins.end()).size(), 2);
  std::vector<int8_t> others(50);
  PlayRandomGamesFromScalar(start, 2, absl::MakeSpan(others));
  EXPECT_NE(margins, others);
}

INSTANTIATE_TEST_SUITE_P(EveryVariant, PlayoutsFromTest,
                         ::testing::ValuesIn(kVariants), VariantTestName);

class LanesFromTest
    : public ::testing::TestWithParam<std::tuple<VariantInfo, InstructionSet>> {
 protected:
  static const VariantInfo& variant() { return std::get<0>(GetParam()); }

  static void ExpectTheGamesOfThePublicRules(absl::Span<const State> starts,
                                             int playouts) {
    const std::vector<uint64_t> seeds = Seeds(starts.size());
    EXPECT_EQ(InLanes(starts, seeds, playouts, std::get<1>(GetParam())),
              ByPublicRules(starts, seeds, playouts))
        << starts.size() << " positions, " << playouts << " playouts";
  }
};

TEST_P(LanesFromTest, PlayTheGamesOfThePublicRulesFromAllPhases) {
  const std::vector<State> starts = PositionsOf(variant().variant, {}, 100);
  ExpectTheGamesOfThePublicRules(starts, 1);
  ExpectTheGamesOfThePublicRules(
      absl::MakeConstSpan(starts).subspan(0, starts.size() / 5), 7);
}

TEST_P(LanesFromTest, KeepToRuleOptions) {
  ExpectTheGamesOfThePublicRules(
      PositionsOf(variant().variant, ChangedOptions(variant()), 60), 2);
  for (const RuleOptionInfo& option : kRuleOptions) {
    if (!option.applies_to(variant())) continue;
    for (int value = option.min_value; value <= std::min(option.max_value, 5);
         ++value) {
      RuleOptions options;
      option.set(options, value);
      ExpectTheGamesOfThePublicRules(
          PositionsOf(variant().variant, options, 10), 3);
    }
  }
}

TEST_P(LanesFromTest, PlayAnyNumberOfGames) {
  const std::vector<State> starts = PositionsOf(variant().variant, {}, 4);
  for (const int count : {0, 1, 2, 3, 5, 8, 16, 31, 64}) {
    for (const int playouts : {1, 2, 3, 16}) {
      // From places all over the games.
      std::vector<State> some;
      for (int i = 0; i < count; ++i) {
        some.push_back(starts[(i * 37 + count) % starts.size()]);
      }
      ExpectTheGamesOfThePublicRules(some, playouts);
    }
  }
}

// The leaves of a search: most are of one ply, some of the next.
TEST_P(LanesFromTest, PlayFromPositionsOfOnePly) {
  const std::vector<State> starts = PositionsOf(variant().variant, {}, 1);
  for (size_t i = 0; i < starts.size(); ++i) {
    ExpectTheGamesOfThePublicRules(std::vector<State>(5, starts[i]), 5);
  }
}

TEST_P(LanesFromTest, PlayPositionsAloneAsInABatch) {
  const std::vector<State> starts = PositionsOf(variant().variant, {}, 2);
  const std::vector<uint64_t> seeds = Seeds(starts.size());
  const InstructionSet set = std::get<1>(GetParam());
  const std::vector<int8_t> together = InLanes(starts, seeds, 3, set);
  for (size_t i = 0; i < starts.size(); i += 7) {
    const std::vector<int8_t> alone =
        InLanes({&starts[i], 1}, {&seeds[i], 1}, 3, set);
    EXPECT_EQ(alone, std::vector<int8_t>(together.begin() + 3 * i,
                                         together.begin() + 3 * i + 3));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, LanesFromTest,
    ::testing::Combine(::testing::ValuesIn(kVariants),
                       ::testing::ValuesIn(SupportedInstructionSets())),
    [](const ::testing::TestParamInfo<LanesFromTest::ParamType>& info) {
      return absl::StrCat(std::get<0>(info.param).id, "_",
                          InstructionSetName(std::get<1>(info.param)));
    });

TEST(MixedBatchTest, VariantsAndOptionsMayBeMixed) {
  std::vector<State> starts;
  for (const VariantInfo& info : kVariants) {
    for (const RuleOptions& options : {RuleOptions(), ChangedOptions(info)}) {
      const std::vector<State> positions =
          PositionsOf(info.variant, options, 3);
      starts.insert(starts.end(), positions.begin(), positions.end());
    }
  }
  // Shuffled by a multiplier that shares no factor with the size.
  std::vector<State> mixed;
  while (starts.size() % 7919 == 0) starts.pop_back();
  for (size_t i = 0; i < starts.size(); ++i) {
    mixed.push_back(starts[i * 7919 % starts.size()]);
  }
  const std::vector<uint64_t> seeds = Seeds(mixed.size());
  for (const InstructionSet set : SupportedInstructionSets()) {
    EXPECT_EQ(InLanes(mixed, seeds, 2, set), ByPublicRules(mixed, seeds, 2));
  }
}

TEST(FastestWayTest, PlaysTheSameGames) {
  for (const VariantInfo& info : kVariants) {
    const std::vector<State> starts = PositionsOf(info.variant, {}, 3);
    const std::vector<uint64_t> seeds = Seeds(starts.size());
    for (const size_t count : {1, 2, 3, 5, 20}) {
      for (const int playouts : {1, 2, 4}) {
        const auto some =
            absl::MakeConstSpan(starts).subspan(starts.size() - count);
        const auto streams =
            absl::MakeConstSpan(seeds).subspan(starts.size() - count);
        std::vector<int8_t> margins(count * playouts);
        PlayRandomGamesFrom(some, streams, playouts, absl::MakeSpan(margins));
        EXPECT_EQ(margins, ByPublicRules(some, streams, playouts));
      }
    }
  }
}

// What the tests above play from, or they would say little.
TEST(PositionsTest, HoldEveryPhaseAndAnnouncedEndings) {
  for (const VariantInfo& info : kVariants) {
    std::set<Phase> phases;
    int closing = 0;
    int stalling = 0;
    for (const State& state : PositionsOf(info.variant, {}, 300)) {
      phases.insert(state.phase);
      closing += state.ending != Ending::kNone;
      stalling += state.no_progress > 0;
    }
    const size_t expected = info.family == Family::kFourTreasures    ? 1
                            : info.family == Family::kHighKings      ? 3
                            : info.family == Family::kStoneOfDestiny ? 3
                                                                     : 2;
    EXPECT_EQ(phases.size(), expected) << info.id;
    // Its games are over as soon as a seat is out.
    EXPECT_EQ(closing > 0, info.family != Family::kStoneOfDestiny) << info.id;
    EXPECT_TRUE(info.family != Family::kHighKings || stalling > 0) << info.id;
  }
}

}  // namespace
}  // namespace tara
