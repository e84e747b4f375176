#include "tara/eval/balance/compensation.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "tara/base/random.h"

namespace tara::eval {
namespace {

TEST(CompensationTest, FairPointsAreTheInterpolatedMedian) {
  EXPECT_NEAR(FairPoints({5}), 5, 1e-12);
  EXPECT_NEAR(FairPoints({-3, 3}), 0, 1e-12);
  // F(-3) = 1/6, F(0) = 1/2.
  EXPECT_NEAR(FairPoints({-3, 0, 4}), 0, 1e-12);
  // F(-3) = 1/8, F(3) = 1/4 + 1/4 = 1/2.
  EXPECT_NEAR(FairPoints({-3, 3, 3, 6}), 3, 1e-12);
  // F(0) = 3/8, F(4) = 3/4 + 1/8: a quarter of the way from 0 to 4.
  EXPECT_NEAR(FairPoints({0, 0, 0, 4}), 1, 1e-12);
  // More than half of the games on one side of the least margin's middle.
  EXPECT_NEAR(FairPoints({3, 3, 3, 4}), 3 + 1 * (0.5 - 0.375) / (0.875 - 0.375),
              1e-12);
  EXPECT_NEAR(FairPoints({7, 7, 7}), 7, 1e-12);
}

TEST(CompensationTest, ThePracticalPointsAreTheNearestToEven) {
  Random random(1);
  // With 3.5 points the first side wins one half; with 3 it has 1/2 + 1/8.
  const Compensation compensation = FairCompensation({-3, 3, 4, 6}, random);
  EXPECT_EQ(compensation.practical, 3.5);
  EXPECT_EQ(compensation.score.mean, 0.5);
  EXPECT_EQ(compensation.draws, 0);
  // Between -3 and 3 all points are the same: none are the simplest.
  EXPECT_EQ(FairCompensation({-3, 3}, random).practical, 0);
  // A draw can be the fairest: 0 wins, 1 draw, 0 losses.
  const Compensation drawn = FairCompensation({2, 2}, random);
  EXPECT_EQ(drawn.practical, 2);
  EXPECT_EQ(drawn.draws, 1);
}

TEST(CompensationTest, ItsIntervalCoversTheTruth) {
  // Margins of a normal around 2.3, rounded: the interpolated median is 2.3 to
  // within the rounding's error, which is small beside a deviation of 5.
  Random random(5);
  constexpr int kSamples = 2000;
  int covered = 0;
  for (int sample = 0; sample < kSamples; ++sample) {
    std::vector<int> margins;
    for (int game = 0; game < 150; ++game) {
      margins.push_back(
          static_cast<int>(std::lround(2.3 + 5 * random.Normal())));
    }
    const Interval points = FairCompensation(margins, random).points;
    covered += points.low <= 2.3 && 2.3 <= points.high;
  }
  // One standard deviation of a count of 95 % of 2000 is 9.7: three of them.
  EXPECT_NEAR(covered, 0.95 * kSamples, 30);
}

// Classes of `size` actions whose true values are `values`.
std::vector<FirstActionGames> Classes(const std::vector<double>& values,
                                      int games, Random& random) {
  std::vector<FirstActionGames> classes;
  for (const double value : values) {
    FirstActionGames& one = classes.emplace_back();
    one.action = HillAction(static_cast<Hill>(classes.size()));
    for (int game = 0; game < games; ++game) {
      one.scores.push_back(random.Uniform() < value ? 1 : 0);
    }
  }
  return classes;
}

TEST(FirstActionSpreadTest, ChanceAloneIsNoSpread) {
  Random random(1);
  double deviations = 0;
  double plain = 0;
  for (int sample = 0; sample < 50; ++sample) {
    const auto classes =
        Classes(std::vector<double>(12, 0.5), /*games=*/10, random);
    deviations += SpreadOfFirstActions(classes, 0.05, random).deviation / 50;
    double squares = 0;
    for (const FirstActionGames& one : classes) {
      double mean = 0;
      for (const double score : one.scores) mean += score / 10;
      squares += (mean - 0.5) * (mean - 0.5) / 12;
    }
    plain += std::sqrt(squares) / 50;
  }
  EXPECT_GT(plain, 0.13);  // sqrt(0.25 / 10) = 0.158
  EXPECT_LT(deviations, 0.06);
}

TEST(FirstActionSpreadTest, FindsTheSpreadAndTheFairest) {
  Random random(2);
  const std::vector<double> values = {0.9, 0.7, 0.5, 0.8, 0.95};
  const auto classes = Classes(values, /*games=*/2000, random);
  const FirstActionSpread spread = SpreadOfFirstActions(classes, 0.05, random);
  EXPECT_EQ(spread.fairest, 2);
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(spread.shrunk[i], values[i], 0.03);
  }
  // Sample deviation of 0.9 0.7 0.5 0.8 0.95: mean 0.77, squares 0.128 / 4.
  EXPECT_NEAR(spread.deviation, std::sqrt(0.128 / 4), 0.02);
  EXPECT_NEAR(spread.within_band.mean, 0.2, 0.02);
  EXPECT_LE(spread.within_band.low, 0.2);
  EXPECT_GE(spread.within_band.high, 0.199);
}

TEST(FirstActionSpreadTest, ClassesCountByTheirActions) {
  Random random(3);
  auto classes = Classes({0.5, 0.9}, /*games=*/4000, random);
  classes[0].size = 3;
  EXPECT_NEAR(SpreadOfFirstActions(classes, 0.05, random).within_band.mean,
              0.75, 0.02);
}

TEST(ChoosersScoreTest, IsThatOfTheBetterSide) {
  const Interval better = ChoosersScore({0.6, 0.55, 0.65});
  EXPECT_DOUBLE_EQ(better.mean, 0.6);
  EXPECT_DOUBLE_EQ(better.low, 0.55);
  EXPECT_DOUBLE_EQ(better.high, 0.65);
  const Interval worse = ChoosersScore({0.4, 0.35, 0.45});
  EXPECT_DOUBLE_EQ(worse.mean, 0.6);
  EXPECT_DOUBLE_EQ(worse.low, 0.55);
  EXPECT_DOUBLE_EQ(worse.high, 0.65);
  const Interval open = ChoosersScore({0.48, 0.4, 0.56});
  EXPECT_DOUBLE_EQ(open.low, 0.5);
  EXPECT_DOUBLE_EQ(open.high, 0.6);
}

}  // namespace
}  // namespace tara::eval
