#include "tara/eval/statistics/combinations.h"

#include <cmath>
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

// A ladder of `steps` half points with `openings` common openings. An opening
// adds to the logit of all its games, with this deviation, and occurs `copies`
// times.
std::vector<LadderGame> Ladder(double a, double b, int steps, int openings,
                               double deviation, int copies, Random& random) {
  std::vector<LadderGame> games;
  for (int opening = 0; opening < openings; ++opening) {
    // Nearly normal: the sum of 12 uniform numbers.
    double own = -6;
    for (int i = 0; i < 12; ++i) own += random.Uniform();
    for (int step = 0; step <= steps; ++step) {
      const double points = step / 2.0;
      const double s = 1 / (1 + std::exp(-(a - b * points + deviation * own)));
      const double score = random.Uniform() < s ? 1 : 0;
      for (int copy = 0; copy < copies; ++copy) {
        games.push_back({.points = points, .score = score, .cluster = opening});
      }
    }
  }
  return games;
}

TEST(LadderTest, FindsTheEvenPointOfACurve) {
  Random random(3);
  const LadderFit fit = FitLadder(Ladder(3, 1, 8, 2000, 0, 1, random));
  EXPECT_NEAR(fit.a, 3, 0.15);
  EXPECT_NEAR(fit.b, 1, 0.05);
  EXPECT_NEAR(fit.even_points.mean, 3, 0.1);
  EXPECT_NEAR(fit.ScoreAt(3), 0.5, 0.02);
  EXPECT_LT(fit.even_points.low, fit.even_points.mean);
  EXPECT_GT(fit.even_points.high, fit.even_points.mean);
}

TEST(LadderTest, AStepIsFoundWhereAllScoresAreCertain) {
  std::vector<LadderGame> games;
  for (int opening = 0; opening < 30; ++opening) {
    for (int halves = 0; halves <= 8; ++halves) {
      games.push_back({.points = halves / 2.0,
                       .score = halves < 6    ? 1.0
                                : halves == 6 ? 0.5
                                              : 0.0,
                       .cluster = opening});
    }
  }
  const LadderFit fit = FitLadder(games);
  EXPECT_NEAR(fit.even_points.mean, 3, 0.1);
  EXPECT_GT(fit.even_points.high, fit.even_points.low);
}

TEST(LadderTest, WithoutAFallThereIsNoBound) {
  Random random(4);
  const LadderFit fit = FitLadder(Ladder(0.3, 0, 4, 30, 0, 1, random));
  EXPECT_TRUE(std::isinf(fit.even_points.low));
  EXPECT_TRUE(std::isinf(fit.even_points.high));
}

TEST(CoverageTest, LaddersHoldTheEvenPoint) {
  struct Case {
    double a, b;
    int steps, openings;
    double deviation;
    int copies;
  };
  constexpr int kLadders = 600;
  // With openings that differ, the curve of the mean is flatter, and its even
  // point the same.
  for (const Case& of : {Case{2, 1, 8, 40, 0, 1}, Case{2, 1, 8, 20, 1, 1},
                         Case{0, 1, 8, 40, 0.5, 1}, Case{4, 1.5, 8, 40, 0, 3},
                         Case{6, 2, 8, 50, 2, 1}}) {
    Random random(11);
    int missed = 0;
    for (int run = 0; run < kLadders; ++run) {
      const LadderFit fit = FitLadder(Ladder(of.a, of.b, of.steps, of.openings,
                                             of.deviation, of.copies, random));
      const double truth = of.a / of.b;
      missed += fit.even_points.low > truth || fit.even_points.high < truth;
    }
    EXPECT_LE(missed, kLadders * (Allowed(kLadders) + 0.02))
        << of.a << " " << of.openings << " " << of.deviation;
  }
}

}  // namespace
}  // namespace tara::eval
