#include <algorithm>
#include <cmath>
#include <cstdint>

#include "gtest/gtest.h"
#include "tara/train/learn/sampler.h"

namespace tara::train {
namespace {

TEST(WindowGamesTest, WithoutGrowthItHasItsMostFromTheStart) {
  const WindowOptions options = {.max_games = 700};
  EXPECT_EQ(WindowGames(options, 0), 700);
  EXPECT_EQ(WindowGames(options, 100000), 700);
}

TEST(WindowGamesTest, GrowsByThePowerLawFromTheLeastToTheMost) {
  const WindowOptions options = {
      .max_games = 1500, .growth = 0.75, .growth_rate = 0.4, .min_games = 250};
  // All games there are, as long as these are few.
  EXPECT_EQ(WindowGames(options, 10), 250);
  EXPECT_EQ(WindowGames(options, 250), 250);
  // N / c = 4: 4^0.75 = 2.8284, 250 * (1 + 0.4 * 1.8284 / 0.75) = 493.8.
  EXPECT_EQ(WindowGames(options, 1000), 493);
  // N / c = 16: 16^0.75 = 8, 250 * (1 + 0.4 * 7 / 0.75) = 1183.3.
  EXPECT_EQ(WindowGames(options, 4000), 1183);
  // N / c = 81: 81^0.75 = 27, 250 * (1 + 0.4 * 26 / 0.75) = 3716.7.
  EXPECT_EQ(WindowGames(options, 20250), 1500);
}

TEST(WindowGamesTest, NeverGoesBackToGamesThatItHasLeft) {
  for (const double growth : {0.1, 0.5, 1.0}) {
    const WindowOptions options = {.max_games = 100000,
                                   .growth = growth,
                                   .growth_rate = 1,
                                   .min_games = 20};
    int64_t begin = 0;
    for (int64_t games = 1; games < 3000; ++games) {
      const int64_t next = games - WindowGames(options, games);
      EXPECT_GE(std::max<int64_t>(next, 0), begin) << games;
      begin = std::max<int64_t>(next, 0);
    }
  }
}

TEST(HeldOutTest, AboutTheShareOfTheGamesIsHeldOutInEveryRun) {
  for (const uint64_t seed : {1, 2, 77}) {
    int held_out = 0;
    const int games = 20000;
    for (int i = 0; i < games; ++i) {
      held_out += IsHeldOut(0.05, seed, static_cast<uint64_t>(i)) ? 1 : 0;
    }
    // Five standard deviations: sqrt(n p (1 - p)).
    EXPECT_NEAR(held_out, 0.05 * games, 5 * std::sqrt(games * 0.05 * 0.95));
  }
}

TEST(HeldOutTest, RunsHoldOutDifferentGamesAndASmallerShareSomeOfThem) {
  int differences = 0;
  for (uint64_t i = 0; i < 1000; ++i) {
    differences += IsHeldOut(0.1, 1, i) != IsHeldOut(0.1, 2, i) ? 1 : 0;
    if (IsHeldOut(0.05, 1, i)) {
      EXPECT_TRUE(IsHeldOut(0.1, 1, i));
    }
    EXPECT_FALSE(IsHeldOut(0, 1, i));
  }
  EXPECT_GT(differences, 0);
}

}  // namespace
}  // namespace tara::train
