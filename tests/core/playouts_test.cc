#include "tara/core/playouts.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tara/base/random.h"
#include "tara/core/outcome.h"
#include "tara/core/rules.h"
#include "tests/core/core_testing.h"

namespace tara {
namespace {

constexpr uint64_t kSeed = 1;
constexpr int kGames = 2000;

template <typename Array>
int64_t Sum(const Array& terms) {
  return std::accumulate(terms.begin(), terms.end(), int64_t{0});
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
  EXPECT_EQ(
      std::accumulate(statistics.margins.begin(),
                      statistics.margins.begin() + kMaxMargin, int64_t{0}),
      statistics.results[2]);
  EXPECT_EQ(statistics.margins[kMaxMargin], statistics.results[1]);
  EXPECT_GE(statistics.legal_actions, statistics.plies);
  EXPECT_GE(statistics.max_length * kGames, statistics.plies);
  // The mean of squares is at least the square of the mean.
  EXPECT_GE(statistics.length_squares * kGames,
            statistics.plies * statistics.plies);
}

TEST_P(PlayoutsTest, PartsAddUpToTheWholeInAnyOrder) {
  PlayoutStatistics parts = Play(150, 50);
  parts += Play(0, 100);
  parts += Play(100, 50);
  EXPECT_EQ(parts, Play(0, 200));
}

TEST_P(PlayoutsTest, NoGamesAreNothingAndOneIsOne) {
  EXPECT_EQ(Play(7, 0), PlayoutStatistics());
  EXPECT_EQ(Play(7, 1).games, 1);
}

TEST_P(PlayoutsTest, AnotherSeedPlaysOtherGames) {
  EXPECT_NE(
      PlayRandomGamesByPublicRules(GetParam().variant, {}, kSeed + 1, 0, 100),
      Play(0, 100));
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

}  // namespace
}  // namespace tara
