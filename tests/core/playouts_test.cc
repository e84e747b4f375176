#include "tara/core/playouts.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/instruction_set.h"
#include "tara/core/outcome.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tests/core/core_testing.h"

namespace tara {
namespace {

constexpr uint64_t kSeed = 1;
constexpr int kGames = 2000;

template <typename Array>
int64_t Sum(const Array& terms) {
  return std::accumulate(std::begin(terms), std::end(terms), int64_t{0});
}

int64_t EndingCount(const PlayoutStatistics& statistics, Ending ending) {
  return statistics.endings[static_cast<size_t>(ending)];
}

int64_t PhasePlies(const PlayoutStatistics& statistics, Phase phase) {
  return statistics.phase_plies[static_cast<size_t>(phase)];
}

class PlayoutsTest : public ::testing::TestWithParam<VariantInfo> {
 protected:
  static PlayoutStatistics Play(int64_t first_game, int64_t games,
                                const RuleOptions& options = {}) {
    return PlayRandomGamesByPublicRules(GetParam().variant, options, kSeed,
                                        first_game, games);
  }
};

TEST_P(PlayoutsTest, SumsAgreeWithOneAnother) {
  const PlayoutStatistics statistics = Play(0, kGames);
  EXPECT_EQ(statistics.games, kGames);
  EXPECT_EQ(Sum(statistics.results), kGames);
  EXPECT_EQ(Sum(statistics.margins), kGames);
  EXPECT_EQ(Sum(statistics.endings), kGames);
  EXPECT_EQ(Sum(statistics.phase_plies), statistics.plies);
  EXPECT_EQ(EndingCount(statistics, Ending::kNone), 0);
  EXPECT_EQ(PhasePlies(statistics, Phase::kFinished), 0);
  EXPECT_EQ(std::accumulate(statistics.margins, statistics.margins + kMaxMargin,
                            int64_t{0}),
            statistics.results[2]);
  EXPECT_EQ(statistics.margins[kMaxMargin], statistics.results[1]);
  EXPECT_GE(statistics.legal_actions, statistics.plies);
  EXPECT_GE(statistics.max_length * kGames, statistics.plies);
  // The mean of squares is at least the square of the mean.
  EXPECT_GE(statistics.length_squares * kGames,
            statistics.plies * statistics.plies);
}

// What each family's rules say of every game (docs/reference/rules.md).
TEST_P(PlayoutsTest, WhatTheRulesSayOfEveryGameHolds) {
  const PlayoutStatistics statistics = Play(0, kGames);
  const int64_t out = EndingCount(statistics, Ending::kOut);
  switch (GetParam().family) {
    case Family::kHighKings:
      EXPECT_EQ(out, 0);
      EXPECT_EQ(PhasePlies(statistics, Phase::kPlacement), 6 * kGames);
      EXPECT_GE(statistics.kings_captured,
                2 * EndingCount(statistics, Ending::kDoubleCapture));
      return;
    case Family::kStoneOfDestiny:
      EXPECT_EQ(PhasePlies(statistics, Phase::kManoeuvres), 45 * kGames);
      EXPECT_EQ(statistics.captures, 0);
      EXPECT_EQ(out + EndingCount(statistics, Ending::kNoProgress), kGames);
      // 23 ringforts to 22, so no game is a draw.
      EXPECT_EQ(statistics.results[1], 0);
      break;
    case Family::kPoisonedChalice:
      EXPECT_EQ(PhasePlies(statistics, Phase::kManoeuvres), 8 * kGames);
      [[fallthrough]];
    case Family::kFourTreasures:
    case Family::kSacredHill:
      EXPECT_EQ(out, kGames);
      EXPECT_LE(statistics.max_length, 45 + 45);
      // Singles end with a full board of one ringfort a hill; each ply builds
      // or captures.
      if (GetParam().seats == 2) {
        EXPECT_EQ(statistics.plies - statistics.captures, 45 * kGames);
      }
      break;
  }
  EXPECT_EQ(statistics.kings_captured, 0);
}

TEST_P(PlayoutsTest, RuleOptionsReachTheGames) {
  const RuleOptions changed = ChangedOptions(GetParam());
  const bool has_options = !(changed == RuleOptions());
  EXPECT_EQ(Play(0, 200, changed) != Play(0, 200), has_options);
}

// The first 20 golden games of a variant are played uniformly at random by an
// independent implementation: their mean length lies within 4 standard errors
// of ours. Twenty games prove little, but a wrong length of a phase shows.
TEST_P(PlayoutsTest, MeanLengthAgreesWithTheGoldenGames) {
  const PlayoutStatistics statistics = Play(0, kGames);
  const double mean = static_cast<double>(statistics.plies) / kGames;
  const double variance =
      static_cast<double>(statistics.length_squares) / kGames - mean * mean;
  constexpr int kGoldenGames = 20;
  std::ifstream file(absl::StrCat(std::getenv("TEST_SRCDIR"), "/",
                                  std::getenv("TEST_WORKSPACE"),
                                  "/tests/golden/", GetParam().id, ".jsonl"));
  std::string line;
  double golden_plies = 0;
  for (int game = 0; game < kGoldenGames; ++game) {
    ASSERT_TRUE(std::getline(file, line));
    golden_plies +=
        static_cast<double>(nlohmann::json::parse(line).at("steps").size());
  }
  const double standard_error =
      std::sqrt(variance * (1.0 / kGoldenGames + 1.0 / kGames));
  EXPECT_NEAR(golden_plies / kGoldenGames, mean, 4 * standard_error + 1e-9);
}

INSTANTIATE_TEST_SUITE_P(EveryVariant, PlayoutsTest,
                         ::testing::ValuesIn(kVariants), VariantTestName);

TEST(ChooseNthTest, EveryActionIsChosenEquallyOften) {
  constexpr int kDraws = 450000;
  std::vector<int> chosen(45);
  Random random(kSeed);
  for (int i = 0; i < kDraws; ++i) ++chosen[ChooseNth(random(), 45)];
  // Chi-square with 44 degrees of freedom: above 83 once in 3000.
  double chi_square = 0;
  for (const int count : chosen) {
    chi_square += (count - 10000.0) * (count - 10000.0) / 10000.0;
  }
  EXPECT_LT(chi_square, 83);
}

TEST(ChooseNthTest, ExtremesStayInRange) {
  EXPECT_EQ(ChooseNth(0, 45), 0);
  EXPECT_EQ(ChooseNth(~uint64_t{0}, 45), 44);
  EXPECT_EQ(ChooseNth(~uint64_t{0}, 1), 0);
}

// --- Playouts from -----------------------------------------------------------

// Random games from given positions: every way of playing them plays the very
// games of the public rules.

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
  for (const RuleOptions& options : EachRuleOption(variant())) {
    ExpectTheGamesOfThePublicRules(PositionsOf(variant().variant, options, 10),
                                   3);
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
