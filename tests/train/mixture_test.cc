#include <cmath>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/train/config/config.h"
#include "tara/train/play/game_plan.h"

namespace tara::train {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kThree[] =
    "variant: 'four_treasures' variant: 'high_kings_l1' "
    "variant: 'poisoned_chalice' ";

proto::TrainConfig Config(const std::string& mixture) {
  const auto config = ParseTrainConfig(kThree + mixture, "test.textproto", {});
  EXPECT_TRUE(config.ok()) << config.status();
  return *config;
}

proto::VariantScore Score(const std::string& variant, double score) {
  proto::VariantScore result;
  result.set_variant(variant);
  result.set_score(score);
  return result;
}

std::vector<double> Shares(const std::string& mixture,
                           const std::vector<proto::VariantScore>& scores) {
  const auto shares = MixtureShares(Config(mixture), scores);
  EXPECT_TRUE(shares.ok()) << shares.status();
  return *shares;
}

TEST(MixtureTest, SharesAreEqualUnlessTheConfigSaysOtherwise) {
  EXPECT_THAT(Shares("", {Score("four_treasures", 0.1)}),
              ElementsAre(1.0 / 3, 1.0 / 3, 1.0 / 3));
}

TEST(MixtureTest, WeightsGiveSharesInProportion) {
  EXPECT_THAT(Shares("mixture { mode: 'weights' weight: 'high_kings_l1=2' "
                     "weight: 'poisoned_chalice=5' }",
                     {}),
              ElementsAre(0.125, 0.25, 0.625));
}

TEST(MixtureTest, AnAdaptiveMixtureGivesMoreToThoseThatAreBehind) {
  // Needs 0.2, 0.8 and, of the one not evaluated, their mean 0.5; sum 1.5.
  // Half of each third is kept, the other half is divided by need:
  // (0.5 + 0.5 * 3 * 0.2 / 1.5) / 3 = 0.2333..., and so on.
  EXPECT_THAT(
      Shares("mixture { mode: 'adaptive' }",
             {Score("four_treasures", 0.8), Score("high_kings_l1", 0.2)}),
      ElementsAre(DoubleNear(0.7 / 3, 1e-12), DoubleNear(1.3 / 3, 1e-12),
                  DoubleNear(1.0 / 3, 1e-12)));
}

TEST(MixtureTest, AnAdaptiveMixtureKeepsTheShareOfOneThatNeedsNothing) {
  const std::vector<double> shares =
      Shares("mixture { mode: 'adaptive' min_share: 0.75 }",
             {Score("four_treasures", 1), Score("high_kings_l1", 1),
              Score("poisoned_chalice", 0)});
  EXPECT_THAT(shares, ElementsAre(0.25, 0.25, 0.5));
}

TEST(MixtureTest, AnAdaptiveMixtureThatKnowsNothingIsEqual) {
  const auto equal = ElementsAre(1.0 / 3, 1.0 / 3, 1.0 / 3);
  EXPECT_THAT(Shares("mixture { mode: 'adaptive' }", {}), equal);
  EXPECT_THAT(Shares("mixture { mode: 'adaptive' }",
                     {Score("four_treasures", 1), Score("high_kings_l1", 1),
                      Score("poisoned_chalice", 1)}),
              equal);
}

TEST(DivideGamesTest, WhatIsLeftOverTakesTurns) {
  const std::vector<double> third(3, 1.0 / 3);
  EXPECT_THAT(DivideGames(9, third, 0), ElementsAre(3, 3, 3));
  EXPECT_THAT(DivideGames(10, third, 0), ElementsAre(4, 3, 3));
  EXPECT_THAT(DivideGames(10, third, 10), ElementsAre(3, 4, 3));
  EXPECT_THAT(DivideGames(11, third, 20), ElementsAre(4, 3, 4));
}

TEST(DivideGamesTest, TheLargestFractionsAreRoundedUp) {
  // 10 games: 1.25, 2.5, 6.25.
  EXPECT_THAT(DivideGames(10, {0.125, 0.25, 0.625}, 0), ElementsAre(1, 3, 6));
}

TEST(VariantOrderTest, EqualNumbersAlternateByTheIndexOfTheGame) {
  EXPECT_THAT(VariantOrder({2, 2, 2}, 0), ElementsAre(0, 1, 2, 0, 1, 2));
  EXPECT_THAT(VariantOrder({2, 2, 2}, 7), ElementsAre(1, 2, 0, 1, 2, 0));
}

TEST(VariantOrderTest, EveryPartOfAGenerationIsAFairSample) {
  const std::vector<int64_t> games = {10, 30, 60};
  const std::vector<int> order = VariantOrder(games, 5);
  ASSERT_EQ(order.size(), 100u);
  std::vector<int64_t> played(3, 0);
  for (size_t i = 0; i < order.size(); ++i) {
    ++played[order[i]];
    for (int v = 0; v < 3; ++v) {
      const double fair = games[v] * static_cast<double>(i + 1) / 100;
      EXPECT_LT(std::abs(fair - static_cast<double>(played[v])), 1.0);
    }
  }
  EXPECT_EQ(played, games);
}

TEST(VariantOrderTest, AVariantMayHaveNoGame) {
  EXPECT_THAT(VariantOrder({0, 2}, 0), ElementsAre(1, 1));
}

TEST(MixtureTest, WeightsOfVariantsThatTheRunLacksWait) {
  EXPECT_THAT(Shares("mixture { mode: 'weights' weight: 'sacred_hill_l1=9' "
                     "weight: 'high_kings_l1=2' }",
                     {}),
              ElementsAre(0.25, 0.5, 0.25));
}

TEST(MixtureTest, WrongMixturesAreRefusedWithTheField) {
  const auto error = [](const std::string& mixture) {
    const auto config =
        ParseTrainConfig(kThree + mixture, "test.textproto", {});
    return std::string(config.status().message());
  };
  EXPECT_THAT(error("mixture { mode: 'fair' }"),
              HasSubstr("mixture.mode: fair; expected equal, weights or "
                        "adaptive"));
  EXPECT_THAT(error("mixture { weight: 'four_treasures=2' }"),
              HasSubstr("mixture.weight: given, but mixture.mode is equal"));
  EXPECT_THAT(
      error("mixture { mode: 'weights' weight: 'four_leaves=2' }"),
      HasSubstr("mixture.weight: 'four_leaves=2': expected variant=weight, of "
                "sacred_hill_l1, "));
  EXPECT_THAT(error("mixture { mode: 'weights' weight: 'four_treasures=0' }"),
              HasSubstr("expected a number above 0"));
  EXPECT_THAT(error("mixture { mode: 'weights' weight: 'four_treasures=nan' }"),
              HasSubstr("expected a number above 0"));
  EXPECT_THAT(error("mixture { mode: 'weights' weight: 'four_treasures=1' "
                    "weight: 'four_treasures=2' }"),
              HasSubstr("has a weight already"));
  EXPECT_THAT(error("mixture { mode: 'adaptive' } evaluation { every: 0 }"),
              HasSubstr("mixture.mode: adaptive; expected evaluations during "
                        "training"));
}

}  // namespace
}  // namespace tara::train
