#include "tara/eval/statistics/statistics.h"

#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace tara {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(StatisticsTest, MeanIntervalIsTheNormalOne) {
  // Mean 3, s^2 = (4 + 1 + 0 + 1 + 4) / 4 = 2.5; 1.96 * sqrt(2.5 / 5).
  const Interval interval = MeanInterval({1, 2, 3, 4, 5});
  EXPECT_DOUBLE_EQ(interval.mean, 3);
  EXPECT_NEAR(interval.low, 3 - 1.38590, 1e-5);
  EXPECT_NEAR(interval.high, 3 + 1.38590, 1e-5);
}

TEST(StatisticsTest, OneValueSaysNothingOfTheSpread) {
  const Interval interval = MeanInterval({7});
  EXPECT_EQ(interval.mean, 7);
  EXPECT_EQ(interval.low, -kInfinity);
  EXPECT_EQ(interval.high, kInfinity);
  EXPECT_EQ(MeanInterval({}).high, kInfinity);
}

TEST(StatisticsTest, WilsonIntervalHasThePublishedValues) {
  // Newcombe 1998, "Two-sided confidence intervals for the single proportion"
  // (Statistics in Medicine 17), table I, method 3: 81/263, 15/148, 0/20, 1/29.
  const struct {
    double successes, trials, low, high;
  } kPublished[] = {{81, 263, 0.2553, 0.3662},
                    {15, 148, 0.0624, 0.1605},
                    {0, 20, 0.0000, 0.1611},
                    {1, 29, 0.0061, 0.1718}};
  for (const auto& [successes, trials, low, high] : kPublished) {
    const Interval interval = WilsonInterval(successes / trials, trials);
    EXPECT_NEAR(interval.low, low, 5e-5) << successes << "/" << trials;
    EXPECT_NEAR(interval.high, high, 5e-5) << successes << "/" << trials;
  }
}

TEST(StatisticsTest, WilsonIntervalIsSymmetricAndExactAtTheEnds) {
  const Interval none = WilsonInterval(0, 12);
  const Interval all = WilsonInterval(1, 12);
  EXPECT_EQ(none.low, 0);
  EXPECT_EQ(all.high, 1);
  EXPECT_DOUBLE_EQ(none.high, 1 - all.low);
}

TEST(StatisticsTest, ScoreIntervalIsOfTheMeanWhereScoresVary) {
  const std::vector<double> scores = {0, 0.5, 1, 0.5};
  const Interval interval = ScoreInterval(scores);
  // Mean 1/2, s^2 = (1/4 + 1/4) / 3 = 1/6; 1.96 * sqrt(1/24).
  EXPECT_DOUBLE_EQ(interval.mean, 0.5);
  EXPECT_NEAR(interval.low, 0.5 - 0.40008, 1e-5);
  EXPECT_NEAR(interval.high, 0.5 + 0.40008, 1e-5);
}

TEST(StatisticsTest, ScoreIntervalStaysBetweenZeroAndOne) {
  const Interval interval = ScoreInterval({1, 1, 0});
  EXPECT_GE(interval.low, 0);
  EXPECT_EQ(interval.high, 1);
}

TEST(StatisticsTest, ScoresThatDoNotVaryStillHaveAnInterval) {
  const Interval all_won = ScoreInterval(std::vector<double>(20, 1.0));
  EXPECT_EQ(all_won.mean, 1);
  EXPECT_NEAR(all_won.low, 1 - 0.1611, 5e-5);  // 0/20 above, mirrored
  EXPECT_EQ(all_won.high, 1);
  const Interval all_drawn = ScoreInterval(std::vector<double>(20, 0.5));
  EXPECT_LT(all_drawn.low, 0.4);
  EXPECT_GT(all_drawn.high, 0.6);
  const Interval nothing = ScoreInterval({});
  EXPECT_EQ(nothing.low, 0);
  EXPECT_EQ(nothing.high, 1);
}

TEST(StatisticsTest, ARatioHasTheIntervalOfItsLinearisation) {
  RatioSums sums;
  sums.Add(6, 2);
  sums.Add(4, 1);
  sums.Add(8, 3);
  const Interval interval = RatioInterval(sums);
  // R = 18 / 6; residuals 0, 1, -1: sqrt(2 / (3 * 2)) / 2 = 0.28868.
  EXPECT_DOUBLE_EQ(interval.mean, 3);
  EXPECT_NEAR(interval.high - 3, kNormalQuantile95 * 0.288675, 1e-5);
  EXPECT_NEAR(3 - interval.low, kNormalQuantile95 * 0.288675, 1e-5);
  RatioSums one;
  one.Add(3, 2);
  EXPECT_EQ(RatioInterval(one).mean, 1.5);
  EXPECT_EQ(RatioInterval(one).high, kInfinity);
}

TEST(StatisticsTest, EloDifferenceIsLogistic) {
  // Ten to one is 400 points by definition; 3 to 1 is 400 log10(3) = 190.85.
  EXPECT_NEAR(EloDifference(10.0 / 11), 400, 1e-9);
  EXPECT_NEAR(EloDifference(0.75), 190.8485, 1e-4);
  EXPECT_NEAR(EloDifference(0.25), -190.8485, 1e-4);
  EXPECT_EQ(EloDifference(0.5), 0);
  EXPECT_EQ(EloDifference(1), kInfinity);
  EXPECT_EQ(EloDifference(0), -kInfinity);
}

TEST(StatisticsDeathTest, ImpossibleArgumentsAreRefused) {
  EXPECT_DEATH(EloDifference(1.5), "not a score");
  EXPECT_DEATH(WilsonInterval(-0.1, 5), "not a proportion");
  EXPECT_DEATH(WilsonInterval(0.5, 0), "without trials");
}

}  // namespace
}  // namespace tara
