#include "tara/mcts/choice/resignation.h"

#include <cmath>
#include <optional>

#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/board.h"

namespace tara::mcts {
namespace {

constexpr int kDraw = -1;

// Adds games of one turn of Red's each, of a root value, with a winner.
void AddGames(int games, float red_value, int winner,
              ResignationCounts& counts) {
  for (int i = 0; i < games; ++i) {
    ResignationWatch watch({.turns = 1}, std::nullopt, /*played_on=*/true);
    watch.Observe(kRed, red_value);
    watch.AddTo(counts, winner);
  }
}

TEST(ResignationTest, TakesBadValuesAtTurnsInARowOfOneSide) {
  ResignationWatch watch({.turns = 3}, -0.9f, /*played_on=*/false);
  EXPECT_FALSE(watch.Observe(kRed, -0.95f));
  EXPECT_FALSE(watch.Observe(kBlue, 0.95f));
  EXPECT_FALSE(watch.Observe(kRed, -0.95f));
  EXPECT_FALSE(watch.Observe(kRed, -0.89f));  // not bad enough: from the start
  EXPECT_FALSE(watch.Observe(kRed, -0.95f));
  EXPECT_FALSE(watch.Observe(kRed, -0.9f));  // as much as the threshold counts
  EXPECT_FALSE(watch.Observe(kBlue, -0.95f));
  EXPECT_TRUE(watch.Observe(kRed, -1));
}

TEST(ResignationTest, NobodyResignsWithoutAThreshold) {
  ResignationWatch watch({.turns = 1}, std::nullopt, /*played_on=*/false);
  EXPECT_FALSE(watch.Observe(kRed, -1));
}

TEST(ResignationTest, AGamePlayedOnIsCountedAtEveryThreshold) {
  ResignationWatch watch({.turns = 2}, -0.9f, /*played_on=*/true);
  EXPECT_FALSE(watch.Observe(kRed, -0.955f));
  EXPECT_FALSE(watch.Observe(kRed, -0.925f));  // would have resigned to -0.92
  EXPECT_FALSE(watch.Observe(kBlue, -0.985f));
  EXPECT_FALSE(watch.Observe(kBlue, -0.985f));  // below that, to -0.98
  ResignationCounts counts;
  watch.AddTo(counts, kBlue);
  EXPECT_EQ(counts.games(), 1);
  EXPECT_EQ(counts.resigned(0), 1);
  EXPECT_EQ(counts.resigned(92), 1);
  EXPECT_EQ(counts.wrong(92), 0);  // Red resigns and has lost
  EXPECT_EQ(counts.resigned(93), 1);
  EXPECT_EQ(counts.wrong(93), 1);  // Blue resigns and has won
  EXPECT_EQ(counts.wrong(98), 1);
  EXPECT_EQ(counts.resigned(99), 0);
}

TEST(ResignationTest, ADrawWasResignedWrongly) {
  ResignationCounts counts;
  AddGames(1, -0.95f, kDraw, counts);
  EXPECT_EQ(counts.wrong(90), 1);
}

TEST(ResignationTest, OtherGamesAreNotCounted) {
  ResignationWatch watch({.turns = 1}, std::nullopt, /*played_on=*/false);
  watch.Observe(kRed, -1);
  ResignationCounts counts;
  watch.AddTo(counts, kRed);
  EXPECT_EQ(counts.games(), 0);
  EXPECT_EQ(counts.resigned(0), 0);
}

TEST(ResignationTest, WithoutEvidenceTheThresholdIsTheOption) {
  const ResignationCounts none;
  EXPECT_EQ(none.ChooseThreshold({.threshold = -0.9f}), -0.9f);
  EXPECT_EQ(none.ChooseThreshold({.threshold = -0.905f}), -0.91f);
  EXPECT_EQ(none.ChooseThreshold({.threshold = 0}), 0);
  EXPECT_EQ(none.ChooseThreshold({.threshold = 0.1f}), std::nullopt);
  EXPECT_EQ(none.ChooseThreshold({.threshold = -1}), std::nullopt);
  EXPECT_EQ(none.ChooseThreshold({.threshold = -0.9f, .min_games = 0}), -0.9f);
}

TEST(ResignationTest, TheThresholdFallsToWhereTheRateIsAsWished) {
  // At -0.9: 100 games, 10 of them wrong. Below -0.95 the 90 right ones alone.
  ResignationCounts counts;
  AddGames(90, -0.975f, kBlue, counts);
  AddGames(10, -0.945f, kRed, counts);
  const ResignationOptions options = {
      .threshold = -0.9f, .max_false_positive_rate = 0.05f, .min_games = 50};
  EXPECT_EQ(counts.ChooseThreshold(options), -0.95f);
  ResignationOptions generous = options;
  generous.max_false_positive_rate = 0.1f;
  EXPECT_EQ(counts.ChooseThreshold(generous), -0.9f);
}

TEST(ResignationTest, SwitchesItselfOffWhereNoThresholdIsAsWished) {
  ResignationCounts counts;
  AddGames(40, -0.975f, kBlue, counts);
  AddGames(10, -0.945f, kRed, counts);
  const ResignationOptions options = {
      .threshold = -0.9f, .max_false_positive_rate = 0.05f, .min_games = 50};
  // Too few games are left below -0.94 to trust their rate.
  EXPECT_EQ(counts.ChooseThreshold(options), std::nullopt);
  // More evidence switches it on again.
  AddGames(10, -0.975f, kBlue, counts);
  EXPECT_EQ(counts.ChooseThreshold(options), -0.95f);
  // Wrong ones everywhere switch it off again.
  AddGames(10, -0.999f, kRed, counts);
  EXPECT_EQ(counts.ChooseThreshold(options), std::nullopt);
}

TEST(ResignationTest, CountsOfPartsAddUp) {
  ResignationCounts all;
  AddGames(3, -0.95f, kBlue, all);
  AddGames(2, -0.5f, kRed, all);
  ResignationCounts part;
  AddGames(3, -0.95f, kBlue, part);
  ResignationCounts other;
  AddGames(2, -0.5f, kRed, other);
  part += other;
  EXPECT_EQ(part.games(), all.games());
  for (int i = 0; i < ResignationCounts::kNumThresholds; ++i) {
    EXPECT_EQ(part.resigned(i), all.resigned(i));
    EXPECT_EQ(part.wrong(i), all.wrong(i));
  }
}

TEST(ResignationTest, TheShareOfGamesPlayedOnIsDrawnByGame) {
  constexpr int kGames = 10000;
  const ResignationOptions options = {.played_on_share = 0.1f};
  int played_on = 0;
  for (int game = 0; game < kGames; ++game) {
    const uint64_t seed = DeriveSeed(1, game, StreamPurpose::kResignation);
    played_on += IsPlayedOn(options, seed) ? 1 : 0;
    EXPECT_EQ(IsPlayedOn(options, seed), IsPlayedOn(options, seed));
    EXPECT_FALSE(IsPlayedOn({.played_on_share = 0}, seed));
    EXPECT_TRUE(IsPlayedOn({.played_on_share = 1}, seed));
  }
  EXPECT_NEAR(played_on, 0.1 * kGames, 4 * std::sqrt(kGames * 0.09));
}

TEST(ResignationTest, TheGuardHoldsTheRateInSimulatedPlay) {
  // Values tell the truth only so far: a side whose value falls to v is lost
  // with probability 0.5 - 0.45 v, so at -1 in 95 games of 100. At -0.5
  // resigning is wrong too often, and the guard has to go lower.
  Random random(DeriveSeed(2, 0, StreamPurpose::kTest));
  const ResignationOptions options = {
      .threshold = -0.5f, .turns = 1, .max_false_positive_rate = 0.1f};
  ResignationCounts counts;
  for (int game = 0; game < 20000; ++game) {
    const auto value = static_cast<float>(-random.Uniform());
    const bool lost = random.Uniform() < 0.5 - 0.45 * value;
    AddGames(1, value, lost ? kBlue : kRed, counts);
  }
  // Below a threshold t values are even in [-1, t], and the wrong ones are
  // 0.5 + 0.45 (t - 1) / 2 of them: 0.1 at t = -0.777.
  const std::optional<float> threshold = counts.ChooseThreshold(options);
  ASSERT_TRUE(threshold.has_value());
  EXPECT_NEAR(*threshold, -0.777f, 0.06f);
}

TEST(ResignationDeathTest, ResigningTakesATurn) {
  EXPECT_DEATH(ResignationWatch({.turns = 0}, -0.9f, false),
               "turns must be >= 1");
}

}  // namespace
}  // namespace tara::mcts
