#include "tara/eval/statistics/combinations.h"

#include <cmath>
#include <functional>
#include <vector>

#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/eval/balance/ladder.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {
namespace {

TEST(LinearCombinationTest, HasTheIntervalOfItsParts) {
  // 0.6 - 0.5 with half widths 0.03 and 0.04: 0.05.
  const Interval difference = Difference({0.5, 0.46, 0.54}, {0.6, 0.57, 0.63});
  EXPECT_NEAR(difference.mean, 0.1, 1e-12);
  EXPECT_NEAR(difference.low, 0.05, 1e-12);
  EXPECT_NEAR(difference.high, 0.15, 1e-12);
  // Ends that are not symmetric: below, 0.9 may be 0.2 less and 0.5 0.1 more.
  const Interval skewed = Difference({0.5, 0.5, 0.6}, {0.9, 0.7, 0.9});
  EXPECT_NEAR(skewed.low, 0.4 - std::hypot(0.2, 0.1), 1e-12);
  EXPECT_NEAR(skewed.high, 0.4, 1e-12);
}

TEST(LinearCombinationTest, ASlopeIsThatOfTheLeastSquaresLine) {
  const Interval slope = SlopeOf(
      std::vector<double>{0, 1, 2},
      std::vector<Interval>{{0.1, 0, 0.2}, {0.5, 0, 1}, {0.3, 0.2, 0.4}});
  EXPECT_NEAR(slope.mean, 0.1, 1e-12);
  EXPECT_NEAR(slope.high - slope.mean, std::hypot(0.05, 0.05), 1e-12);
}

TEST(PValueTest, IsBelowFivePercentWhereTheIntervalExcludesTheValue) {
  EXPECT_NEAR(PValueOf({1, 0, 2}), 0.05, 1e-9);
  EXPECT_LT(PValueOf({1, 0.1, 3}), 0.05);
  EXPECT_GT(PValueOf({-1, -9, 0.1}), 0.05);
  EXPECT_EQ(PValueOf({0, -1, 1}), 1);
  EXPECT_EQ(PValueOf({0.5, 0.5, 0.5}, 0.5), 1);
}

TEST(BoundedMeanTest, ValuesThatAreAllTheSameHaveAnInterval) {
  const Interval mean = BoundedMeanInterval(std::vector<double>(30, 3.0));
  EXPECT_EQ(mean.mean, 3);
  EXPECT_LT(mean.low, 2.9);
  EXPECT_GT(mean.high, 3);
  // Thirty copies of one game are one game.
  const Interval one = BoundedMeanInterval(std::vector<double>(30, 3.0),
                                           std::vector<int>(30, 0));
  EXPECT_LT(one.low, 0);
}

// --- Coverage ----------------------------------------------------------------

constexpr int kRuns = 2000;
// What chance adds to a share of 5 % of so many, three deviations.
double Allowed(int runs) { return 0.05 + 3 * std::sqrt(0.05 * 0.95 / runs); }

// Games of a side: a share of wins and of draws; with `copies`, each result is
// that of one opening, which comes again so often, as a mirror image or not.
struct Sampled {
  std::vector<double> scores;
  std::vector<int> clusters;
};
Sampled Sample(int games, double wins, double draws, int copies,
               Random& random) {
  Sampled sample;
  for (int i = 0; i < games; ++i) {
    const double u = random.Uniform();
    const double score = u < wins ? 1 : u < wins + draws ? 0.5 : 0;
    for (int copy = 0; copy < copies; ++copy) {
      sample.scores.push_back(score);
      sample.clusters.push_back(i);
    }
  }
  return sample;
}

TEST(CoverageTest, DifferencesAndTrendsHoldTheTruthAlsoNearTheBounds) {
  struct Case {
    double wins[3], draws;
    int games, copies;
  };
  for (const Case& of :
       {Case{{0.5, 0.5, 0.5}, 0, 60, 1}, Case{{0.95, 0.97, 0.99}, 0, 100, 1},
        Case{{0.99, 0.99, 0.99}, 0, 40, 1}, Case{{0.02, 0.01, 0.05}, 0, 60, 3},
        Case{{0.3, 0.2, 0.1}, 0.6, 60, 1}, Case{{0.8, 0.7, 0.9}, 0.1, 40, 5}}) {
    Random random(17);
    int difference_missed = 0, slope_missed = 0;
    const auto truth = [&](int i) { return of.wins[i] + of.draws / 2; };
    for (int run = 0; run < kRuns; ++run) {
      std::vector<Interval> scores;
      for (const double wins : of.wins) {
        const Sampled sample =
            Sample(of.games, wins, of.draws, of.copies, random);
        scores.push_back(ScoreInterval(sample.scores, sample.clusters));
      }
      const Interval difference = Difference(scores[0], scores[2]);
      const double change = truth(2) - truth(0);
      difference_missed += difference.low > change || difference.high < change;
      const Interval slope = SlopeOf(std::vector<double>{0, 1, 2}, scores);
      slope_missed += slope.low > change / 2 || slope.high < change / 2;
    }
    EXPECT_LE(difference_missed, kRuns * Allowed(kRuns)) << of.wins[0];
    EXPECT_LE(slope_missed, kRuns * Allowed(kRuns)) << of.wins[0];
  }
}

TEST(CoverageTest, MarginsThatHardlyVaryHoldTheTruth) {
  struct Margins {
    double usual, other, rare;       // margins
    double share_other, share_rare;  // of the games
  };
  for (const Margins& of :
       {Margins{3, 3, -3, 0, 0.5}, Margins{3, 3, -3, 0, 0.1},
        Margins{3, 3, -3, 0, 0.03}, Margins{3, 3, -3, 0, 0.01},
        Margins{3, 3, 5, 0, 0.03}, Margins{3, 2, -3, 0.49, 0.01},
        Margins{0, 3, -3, 0.02, 0.02}}) {
    const double truth = of.usual + of.share_other * (of.other - of.usual) +
                         of.share_rare * (of.rare - of.usual);
    for (const int games : {20, 60, 200}) {
      Random random(5);
      int missed = 0;
      for (int run = 0; run < kRuns; ++run) {
        std::vector<double> margins;
        for (int i = 0; i < games; ++i) {
          const double u = random.Uniform();
          margins.push_back(u < of.share_rare                    ? of.rare
                            : u < of.share_rare + of.share_other ? of.other
                                                                 : of.usual);
        }
        const Interval mean = BoundedMeanInterval(margins);
        missed += mean.low > truth + 1e-9 || mean.high < truth - 1e-9;
      }
      EXPECT_LE(missed, kRuns * Allowed(kRuns))
          << of.rare << " in " << of.share_rare << " of " << games;
    }
  }
}

// --- Ladders -----------------------------------------------------------------

// The first side's score by the points.
using Curve = std::function<double(double points)>;

Curve Logistic(double a, double b) {
  return [=](double points) { return 1 / (1 + std::exp(b * points - a)); };
}
// One score up to some points, another one from there on.
Curve Step(double high, double low, double points) {
  return [=](double at) { return at < points ? high : low; };
}

// A ladder of `steps` half points with `openings` common openings. An opening
// moves the points of all its games by as much as `spread` either way, and
// occurs `copies` times.
std::vector<LadderGame> Ladder(const Curve& curve, int steps, int openings,
                               double spread, int copies, Random& random) {
  std::vector<LadderGame> games;
  for (int opening = 0; opening < openings; ++opening) {
    const double moved = spread * (2 * random.Uniform() - 1);
    for (int step = 0; step <= steps; ++step) {
      const double points = step / 2.0;
      const double score = random.Uniform() < curve(points + moved) ? 1 : 0;
      for (int copy = 0; copy < copies; ++copy) {
        games.push_back({.points = points, .score = score, .cluster = opening});
      }
    }
  }
  return games;
}

TEST(LadderTest, TheCurvePoolsStepsThatRise) {
  // 4, 1, 3, 1, 0 of 4 games, of which the second and the third step rise.
  std::vector<LadderGame> games;
  const std::vector<int> wins = {4, 1, 3, 1, 0};
  for (int step = 0; step < 5; ++step) {
    for (int game = 0; game < 4; ++game) {
      games.push_back({step / 2.0, game < wins[step] ? 1.0 : 0.0, game});
    }
  }
  const LadderFit fit = FitLadder(games);
  std::vector<double> curve;
  for (const LadderFit::Step& step : fit.steps) curve.push_back(step.curve);
  EXPECT_EQ(curve, (std::vector<double>{1, 0.5, 0.5, 0.25, 0}));
  EXPECT_EQ(fit.steps[1].score.mean, 0.25);
  // Of two as near, the one of fewer points.
  EXPECT_EQ(fit.Nearest().points, 0.5);
  EXPECT_EQ(fit.even_points.mean, 1);
  // Four games show nothing.
  EXPECT_TRUE(std::isinf(fit.even_points.low));
  EXPECT_TRUE(std::isinf(fit.even_points.high));
}

TEST(LadderTest, StepsWeighAsMuchAsTheirGamesDiffer) {
  // The second step has four copies of one game.
  const LadderFit fit = FitLadder(std::vector<LadderGame>{{0, 0, 0},
                                                          {0, 0, 1},
                                                          {0, 1, 2},
                                                          {0, 1, 3},
                                                          {1, 1, 4},
                                                          {1, 1, 4},
                                                          {1, 1, 4},
                                                          {1, 1, 4}});
  EXPECT_NEAR(fit.steps[0].curve, 3.0 / 5, 1e-12);
}

TEST(LadderTest, ScoresThatFallInOneStepLeadToTheNearerOne) {
  Random random(3);
  const LadderFit fit =
      FitLadder(Ladder(Step(0.67, 0.46, 3), 8, 2000, 0, 1, random));
  EXPECT_EQ(fit.Nearest().points, 3);
  EXPECT_EQ(fit.FirstBelow(), 6u);
  EXPECT_EQ(fit.even_points.low, 2.5);
  EXPECT_EQ(fit.even_points.high, 3);
}

TEST(LadderTest, APointBeyondTheLadderHasNoBound) {
  Random random(4);
  const LadderFit fit =
      FitLadder(Ladder(Step(0.9, 0.1, 10), 8, 100, 0, 1, random));
  EXPECT_EQ(fit.even_points.low, 4);
  EXPECT_TRUE(std::isinf(fit.even_points.high));
  EXPECT_EQ(fit.FirstBelow(), fit.steps.size());
}

TEST(CoverageTest, LaddersHoldTheEvenPointOfAnyCurve) {
  struct Case {
    Curve curve;
    double low, high;  // the curve is even somewhere from here to there
    int openings;
    double spread;
    int copies;
  };
  for (const Case& of : {Case{Logistic(2, 1), 2, 2, 40, 0, 1},
                         Case{Logistic(2, 1), 2, 2, 20, 1, 1},
                         Case{Logistic(0, 1), 0, 0, 40, 0.5, 1},
                         Case{Logistic(6, 1.5), 4, 4, 40, 0, 3},
                         Case{Logistic(0.5, 0.2), 2.5, 2.5, 100, 2, 1},
                         Case{Step(0.6, 0.35, 2.75), 2.5, 3, 40, 0, 1},
                         Case{Step(0.95, 0.02, 2.75), 2.5, 3, 20, 0, 1},
                         Case{Step(0.7, 0.5, 1.75), 1.5, 4.5, 40, 0, 1},
                         Case{Step(0.52, 0.1, 3.75), 3.5, 4, 200, 0, 2}}) {
    Random random(11);
    int missed = 0;
    for (int run = 0; run < kRuns; ++run) {
      const Interval even = FitLadder(Ladder(of.curve, 8, of.openings,
                                             of.spread, of.copies, random))
                                .even_points;
      missed += even.low > of.low || even.high < of.high;
    }
    EXPECT_LE(missed, kRuns * Allowed(kRuns)) << of.low << " " << of.openings;
  }
}

}  // namespace
}  // namespace tara::eval
