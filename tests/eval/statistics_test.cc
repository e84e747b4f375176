#include "tara/eval/statistics/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "gtest/gtest.h"

namespace tara::eval {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(StatisticsTest, MeanIntervalIsStudents) {
  // Mean 3, s^2 = (4 + 1 + 0 + 1 + 4) / 4 = 2.5; of 4 degrees of freedom t is
  // 2.776445; 2.776445 * sqrt(2.5 / 5).
  const Interval interval = MeanInterval({1, 2, 3, 4, 5});
  EXPECT_DOUBLE_EQ(interval.mean, 3);
  EXPECT_NEAR(interval.low, 3 - 1.96324, 1e-5);
  EXPECT_NEAR(interval.high, 3 + 1.96324, 1e-5);
}

TEST(StatisticsTest, OneValueSaysNothingOfTheSpread) {
  const Interval interval = MeanInterval({7});
  EXPECT_EQ(interval.mean, 7);
  EXPECT_EQ(interval.low, -kInfinity);
  EXPECT_EQ(interval.high, kInfinity);
  EXPECT_EQ(MeanInterval({}).high, kInfinity);
}

TEST(StatisticsTest, FewValuesThatAreAllTheSameSayNothingOfTheSpread) {
  const auto interval = [](size_t values) {
    return MeanInterval(std::vector<double>(values, 3.0));
  };
  EXPECT_EQ(interval(kMinEqualValues - 1).high, kInfinity);
  EXPECT_EQ(interval(kMinEqualValues).low, 3);
  EXPECT_EQ(interval(kMinEqualValues).high, 3);
}

TEST(StatisticsTest, ClustersAreOfEqualKeys) {
  const std::vector<int> clusters = MakeClusters({5, 0, 5, 9, 0, 9, 5});
  EXPECT_EQ(clusters, (std::vector<int>{0, 1, 0, 2, 3, 2, 0}));
  EXPECT_EQ(DifferentIn(clusters), 4);
  // 49 / (9 + 1 + 4 + 1).
  EXPECT_DOUBLE_EQ(EffectiveCount(7, clusters), 49.0 / 15);
  EXPECT_EQ(EffectiveCount(7, {}), 7);
}

TEST(StatisticsTest, ValuesOverAgainAreWorthNoMoreThanOnce) {
  const std::vector<double> once = {1, 0, 0.5, 1, 1};
  std::vector<double> often;
  std::vector<int> clusters;
  for (int times = 0; times < 3; ++times) {
    for (int i = 0; i < 5; ++i) {
      often.push_back(once[i]);
      clusters.push_back(i);
    }
  }
  const auto expect_same = [](const Interval& x, const Interval& y) {
    EXPECT_NEAR(x.mean, y.mean, 1e-12);
    EXPECT_NEAR(x.low, y.low, 1e-9);
    EXPECT_NEAR(x.high, y.high, 1e-9);
  };
  expect_same(ScoreInterval(often, clusters), ScoreInterval(once));
  expect_same(MeanInterval(often, clusters), MeanInterval(once));
  EXPECT_NEAR(EvenScoreTest(often, clusters), EvenScoreTest(once), 1e-9);
  EXPECT_LT(EvenScoreTest(often), EvenScoreTest(once));
}

TEST(StatisticsTest, AClusterCountsByItsMean) {
  // Two games of each of four pairs: the interval of the pairs' means.
  const std::vector<double> games = {1, 0, 1, 1, 0, 0.5, 1, 0};
  const Interval interval = MeanInterval(games, {0, 0, 1, 1, 2, 2, 3, 3});
  const Interval expected = MeanInterval({0.5, 1, 0.25, 0.5});
  EXPECT_EQ(interval.low, expected.low);
  EXPECT_EQ(interval.high, expected.high);
}

TEST(StatisticsTest, IntervalsOfProportionsHaveThePublishedValues) {
  // Newcombe 1998, "Two-sided confidence intervals for the single proportion"
  // (Statistics in Medicine 17), table I, methods 3 and 5.
  const struct {
    double successes, trials;
    Interval wilson, clopper_pearson;
  } kPublished[] = {{81, 263, {0, 0.2553, 0.3662}, {0, 0.2527, 0.3676}},
                    {15, 148, {0, 0.0624, 0.1605}, {0, 0.0578, 0.1617}},
                    {0, 20, {0, 0.0000, 0.1611}, {0, 0.0000, 0.1684}},
                    {1, 29, {0, 0.0061, 0.1718}, {0, 0.0009, 0.1776}}};
  for (const auto& [successes, trials, wilson, clopper_pearson] : kPublished) {
    SCOPED_TRACE(successes);
    const double share = successes / trials;
    EXPECT_NEAR(WilsonInterval(share, trials).low, wilson.low, 5e-5);
    EXPECT_NEAR(WilsonInterval(share, trials).high, wilson.high, 5e-5);
    const Interval exact = ClopperPearsonInterval(share, trials);
    EXPECT_NEAR(exact.low, clopper_pearson.low, 5e-5);
    EXPECT_NEAR(exact.high, clopper_pearson.high, 5e-5);
  }
}

TEST(StatisticsTest, WilsonIntervalIsSymmetricAndExactAtTheEnds) {
  const Interval none = WilsonInterval(0, 12);
  const Interval all = WilsonInterval(1, 12);
  EXPECT_EQ(none.low, 0);
  EXPECT_EQ(all.high, 1);
  EXPECT_DOUBLE_EQ(none.high, 1 - all.low);
}

TEST(StatisticsTest, AScoreThatVariesLessIsOfMoreTrials) {
  const std::vector<double> scores = {0, 0.5, 1, 0.5};
  const Interval interval = ScoreInterval(scores);
  // With a 0 and a 1 more: mean 1/2, variance (4 * 1/4) / 6 = 1/6, so that d is
  // 2/3: 4 * 3/2 trials.
  const Interval proportion = ClopperPearsonInterval(0.5, 6);
  EXPECT_DOUBLE_EQ(interval.mean, 0.5);
  EXPECT_NEAR(interval.low, proportion.low, 1e-12);
  EXPECT_NEAR(interval.high, proportion.high, 1e-12);
}

TEST(StatisticsTest, ScoreIntervalsAreTheSameFromBothSides) {
  for (int wins = 0; wins <= 10; ++wins) {
    for (int draws = 0; draws <= 10 - wins; ++draws) {
      std::vector<double> scores(10, 0.0);
      std::fill_n(scores.begin(), wins, 1.0);
      std::fill_n(scores.rbegin(), draws, 0.5);
      const Interval one = ScoreInterval(scores);
      for (double& score : scores) score = 1 - score;
      const Interval other = ScoreInterval(scores);
      EXPECT_NEAR(one.low, 1 - other.high, 1e-9);
      EXPECT_NEAR(one.high, 1 - other.low, 1e-9);
      EXPECT_LE(one.low, one.mean);
      EXPECT_GE(one.high, one.mean);
      EXPECT_GE(one.low, 0);
      EXPECT_LE(one.high, 1);
    }
  }
}

TEST(StatisticsTest, AnUnevenScoreIsOneWhoseIntervalHoldsNoHalf) {
  int uneven = 0, even = 0;
  for (int games = 1; games <= 40; ++games) {
    for (int draws = 0; draws <= games; ++draws) {
      for (int wins = 0; wins <= games - draws; ++wins) {
        std::vector<double> scores(static_cast<size_t>(games), 0.0);
        std::fill_n(scores.begin(), wins, 1.0);
        std::fill_n(scores.rbegin(), draws, 0.5);
        const Interval interval = ScoreInterval(scores);
        const double p = EvenScoreTest(scores);
        EXPECT_EQ(p < 0.05, interval.low > 0.5 || interval.high < 0.5)
            << wins << " wins, " << draws << " draws of " << games;
        EXPECT_GT(p, 0);
        EXPECT_LE(p, 1);
        ++(p < 0.05 ? uneven : even);
      }
    }
  }
  EXPECT_GT(uneven, 1000);
  EXPECT_GT(even, 1000);
}

TEST(StatisticsTest, WithoutDrawsTheTestOfAnEvenScoreIsTheSignTest) {
  // 8 of 9: 2 * (9 + 1) / 2^9. Source: Dixon and Mood 1946, JASA 41.
  std::vector<double> scores(9, 1.0);
  scores[0] = 0;
  EXPECT_NEAR(EvenScoreTest(scores), 20.0 / 512, 1e-12);
  EXPECT_EQ(EvenScoreTest({0.0, 1.0}), 1);
  EXPECT_EQ(EvenScoreTest({}), 1);
  EXPECT_EQ(EvenScoreTest(std::vector<double>(20, 0.5)), 1);
  // Normal approximation: z = (5200 - 5000 - 1/2) / 50 = 3.99.
  std::vector<double> many(10000, 0.0);
  std::fill_n(many.begin(), 5200, 1.0);
  EXPECT_NEAR(EvenScoreTest(many), std::erfc(3.99 / std::sqrt(2.0)), 1e-6);
}

TEST(StatisticsTest, ScoresThatDoNotVaryStillHaveAnInterval) {
  const Interval all_won = ScoreInterval(std::vector<double>(20, 1.0));
  EXPECT_EQ(all_won.mean, 1);
  EXPECT_NEAR(all_won.low, 1 - 0.1684, 5e-5);  // 0/20 above, mirrored
  EXPECT_EQ(all_won.high, 1);
  const Interval all_drawn = ScoreInterval(std::vector<double>(20, 0.5));
  EXPECT_LT(all_drawn.low, 0.45);
  EXPECT_GT(all_drawn.high, 0.55);
  const Interval nothing = ScoreInterval(std::vector<double>());
  EXPECT_EQ(nothing.low, 0);
  EXPECT_EQ(nothing.high, 1);
  const Interval one = ScoreInterval({1.0});
  EXPECT_EQ(one.mean, 1);
  EXPECT_NEAR(one.low, 0.025, 1e-12);  // a chance of 2.5 % to win it
  EXPECT_EQ(one.high, 1);
}

TEST(StatisticsTest, AHundredMillionScoresHaveTheNormalInterval) {
  const Interval interval =
      ScoreIntervalOf({.count = 1e8, .sum = 4e7, .squares = 4e7});
  const double half_width = kNormalQuantile95 * std::sqrt(0.24 / 1e8);
  EXPECT_NEAR(interval.low, 0.4 - half_width, half_width / 1000);
  EXPECT_NEAR(interval.high, 0.4 + half_width, half_width / 1000);
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

// How often intervals of n pairs hold the truth, and how often it is below or
// above them.
struct Coverage {
  double within = 0;
  double below = 0;
  double above = 0;
};

// The intervals of n pairs with three possible scores, by how many pairs have
// the first and the second of them.
class CoverageTable {
 public:
  CoverageTable(int pairs, const std::array<double, 3>& scores)
      : pairs_(pairs),
        scores_(scores),
        intervals_((pairs + 1) * (pairs + 1)),
        log_factorials_(pairs + 1) {
    for (int i = 1; i <= pairs; ++i) {
      log_factorials_[i] = log_factorials_[i - 1] + std::log(i);
    }
  }

  // Sums the probabilities of all that n pairs can come to, but for those of
  // less than e^-16. They are in none of the three sums.
  Coverage Of(double truth, const std::array<double, 3>& chances) {
    constexpr double kLeast = -16;
    Coverage coverage;
    for (int first = 0; first <= pairs_; ++first) {
      for (int second = 0; second <= pairs_ - first; ++second) {
        const std::array<int, 3> counts = {first, second,
                                           pairs_ - first - second};
        double logarithm = log_factorials_[pairs_];
        for (int i = 0; i < 3; ++i) {
          logarithm -= log_factorials_[counts[i]];
          if (counts[i] > 0) logarithm += counts[i] * std::log(chances[i]);
        }
        if (!(logarithm > kLeast)) continue;
        const Interval& interval = IntervalOf(counts);
        (truth < interval.low    ? coverage.below
         : truth > interval.high ? coverage.above
                                 : coverage.within) += std::exp(logarithm);
      }
    }
    return coverage;
  }

 private:
  const Interval& IntervalOf(const std::array<int, 3>& counts) {
    std::optional<Interval>& interval =
        intervals_[counts[0] * (pairs_ + 1) + counts[1]];
    if (!interval.has_value()) {
      std::vector<double> scores;
      for (int i = 0; i < 3; ++i) {
        scores.insert(scores.end(), counts[i], scores_[i]);
      }
      interval = ScoreInterval(scores);
    }
    return *interval;
  }

  int pairs_;
  std::array<double, 3> scores_;
  std::vector<std::optional<Interval>> intervals_;
  std::vector<double> log_factorials_;
};

// Ways in which the games of a pair with a given expected score can depend on
// each other, and what the intervals are to keep then.
struct CoverageCase {
  std::string name;
  // Three scores of a pair, and their chances where the truth is p >= 1/2.
  std::array<double, 3> scores = {0, 0.5, 1};
  std::function<std::array<double, 3>(double p)> chances;
  double least = 0.95;         // coverage
  double most_missed = 0.025;  // by either end
  // The most coverage of 100 pairs and more with truths of 50 to 90 %, so that
  // intervals are not wider than they need be.
  double most = 1;
};

const std::vector<CoverageCase>& CoverageCases() {
  using Chances = std::array<double, 3>;
  static const auto* const cases = new std::vector<CoverageCase>{
      {.name = "two games that do not depend on each other, without draws",
       .chances =
           [](double p) {
             return Chances{(1 - p) * (1 - p), 2 * p * (1 - p), p * p};
           },
       .most = 0.98},
      {.name = "who wins one game wins the other",
       .chances = [](double p) { return Chances{1 - p, 0, p}; },
       .most = 0.98},
      {.name = "the same in half of the pairs, else independent",
       .chances =
           [](double p) {
             return Chances{(1 - p) * (1 - p / 2), p * (1 - p),
                            p * (1 - (1 - p) / 2)};
           },
       .most = 0.98},
      {.name = "19 of 20 pairs that are not won are divided",
       .chances =
           [](double p) {
             const double lost = 0.05 * (1 - p);
             return Chances{lost, 2 * (1 - p) - 2 * lost, 2 * p - 1 + lost};
           },
       .most_missed = 0.035},
      // Nothing of the sample says that the scores could be less than 1/2.
      {.name = "all of them are divided",
       .chances = [](double p) { return Chances{0, 2 * (1 - p), 2 * p - 1}; },
       .least = 0.94,
       .most_missed = 0.06},
      {.name = "games that are won or drawn",
       .scores = {0.5, 0.75, 1},
       .chances =
           [](double p) {
             const double draw = 2 * (1 - p);
             return Chances{draw * draw, 2 * draw * (1 - draw),
                            (1 - draw) * (1 - draw)};
           },
       .most_missed = 0.035}};
  return *cases;
}

// By exact sums, for 20 to 400 pairs and truths of 50 to 99 %; where the truth
// is less than one half, all is mirrored.
TEST(StatisticsTest, ScoreIntervalsHoldTheTruthAsOftenAsTheySay) {
  for (const CoverageCase& c : CoverageCases()) {
    for (const int pairs : {20, 50, 100, 200, 400}) {
      CoverageTable table(pairs, c.scores);
      // Of 200 and more, in larger steps: sums grow with the square.
      const int step = pairs < 200 ? 1 : 7;
      for (int percent = 50; percent <= 99; percent += step) {
        const double truth = percent / 100.0;
        const Coverage coverage = table.Of(truth, c.chances(truth));
        SCOPED_TRACE(c.name + ", " + std::to_string(pairs) + " pairs, " +
                     std::to_string(percent) + " %");
        ASSERT_NEAR(coverage.within + coverage.below + coverage.above, 1, 1e-4);
        EXPECT_GE(coverage.within, c.least);
        EXPECT_LE(coverage.below, c.most_missed);
        EXPECT_LE(coverage.above, c.most_missed);
        if (pairs >= 100 && percent <= 90) {
          EXPECT_LE(coverage.within, c.most);
        }
      }
      // Who always wins has a score of 1, and who always loses of 0.
      EXPECT_EQ(table.Of(1, {0, 0, 1}).within, 1);
      EXPECT_EQ(ScoreInterval(std::vector<double>(pairs, 0.0)).low, 0);
    }
  }
}

TEST(StatisticsDeathTest, ImpossibleArgumentsAreRefused) {
  EXPECT_DEATH(EloDifference(1.5), "not a score");
  EXPECT_DEATH(WilsonInterval(-0.1, 5), "not a proportion");
  EXPECT_DEATH(WilsonInterval(0.5, 0), "without trials");
  EXPECT_DEATH(ClopperPearsonInterval(1.1, 5), "not a proportion");
  EXPECT_DEATH(ClopperPearsonInterval(0.5, 0), "without trials");
}

// --- Resampling --------------------------------------------------------------

double Mean(absl::Span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double Deviation(absl::Span<const double> values) {
  const double mean = Mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

TEST(BootstrapTest, FindsThePublishedErrorOfTheLawSchools) {
  // Efron and Tibshirani 1993, "An introduction to the bootstrap": the scores
  // of 15 law schools (table 3.1) have a correlation of 0.776, whose standard
  // error is 0.132 by 3200 replicates (table 6.1).
  const std::vector<double> lsat = {576, 635, 558, 578, 666, 580, 555, 661,
                                    651, 605, 653, 575, 545, 572, 594};
  const std::vector<double> gpa = {3.39, 3.30, 2.81, 3.03, 3.44,
                                   3.07, 3.00, 3.43, 3.36, 3.13,
                                   3.12, 2.74, 2.76, 2.88, 2.96};
  const auto correlation = [&](absl::Span<const int> indices) {
    std::vector<double> x, y;
    for (const int index : indices) {
      x.push_back(lsat[index]);
      y.push_back(gpa[index]);
    }
    const double mean_x = Mean(x), mean_y = Mean(y);
    double products = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      products += (x[i] - mean_x) * (y[i] - mean_y);
    }
    return products / static_cast<double>(x.size() - 1) / Deviation(x) /
           Deviation(y);
  };
  Random random(1);
  const Interval interval = BootstrapInterval(15, 3200, correlation, random);
  EXPECT_NEAR(interval.mean, 0.776, 5e-4);
  EXPECT_NEAR((interval.high - interval.low) / (2 * kNormalQuantile95), 0.132,
              0.02);
  EXPECT_LT(interval.low, 0.6);
  EXPECT_GT(interval.high, 0.9);
}

// Draws samples whose observations come in equal pairs, and returns how often
// the bootstrap's interval of the mean, over pairs or over single values, holds
// the true mean, 0.
double Coverage(bool over_pairs) {
  constexpr int kSamples = 400;
  constexpr int kPairs = 60;
  Random random(3);
  int covered = 0;
  for (int sample = 0; sample < kSamples; ++sample) {
    std::vector<double> values;
    for (int pair = 0; pair < kPairs; ++pair) {
      values.insert(values.end(), 2, random.Normal());
    }
    const Interval interval = BootstrapInterval(
        over_pairs ? kPairs : 2 * kPairs, 200,
        [&](absl::Span<const int> indices) {
          double sum = 0;
          for (const int index : indices) {
            sum += values[over_pairs ? 2 * index : index];
          }
          return sum / static_cast<double>(indices.size());
        },
        random);
    covered += interval.low <= 0 && 0 <= interval.high;
  }
  return static_cast<double>(covered) / kSamples;
}

TEST(BootstrapTest, CoversTheTruthWhereDependentGamesAreDrawnTogether) {
  // 400 samples: two standard errors of 95 % are 2.2 %, and 200 replicates cost
  // another per cent.
  EXPECT_NEAR(Coverage(/*over_pairs=*/true), 0.94, 0.03);
  // Taken for independent, the same values seem to say twice as much: the
  // interval is 1.96 / sqrt(2) = 1.39 deviations wide, which hold 83 %.
  EXPECT_NEAR(Coverage(/*over_pairs=*/false), 0.83, 0.05);
}

std::vector<int64_t> Draw(const std::vector<double>& weights, int observations,
                          Random& random) {
  std::map<size_t, int64_t> counts;
  double sum = 0;
  for (const double weight : weights) sum += weight;
  for (int i = 0; i < observations; ++i) {
    double left = random.Uniform() * sum;
    size_t kind = 0;
    while (kind + 1 < weights.size() && left >= weights[kind]) {
      left -= weights[kind++];
    }
    ++counts[kind];
  }
  std::vector<int64_t> seen;
  for (const auto& [kind, count] : counts) seen.push_back(count);
  return seen;
}

// Kinds that grow rare, as openings do.
std::vector<double> Harmonic(int kinds) {
  std::vector<double> weights;
  for (int kind = 1; kind <= kinds; ++kind) weights.push_back(1.0 / kind);
  return weights;
}

// - sum p_i ln p_i  with p_i = weight_i / sum of the weights.
double Entropy(const std::vector<double>& weights) {
  double sum = 0;
  for (const double weight : weights) sum += weight;
  double entropy = 0;
  for (const double weight : weights) {
    if (weight > 0) entropy -= weight / sum * std::log(weight / sum);
  }
  return entropy;
}

TEST(EntropyTest, IsTheJackknifeOfEveryObservationLeftOutInTurn) {
  const std::vector<int64_t> counts = {7, 3, 1, 1};
  const auto entropy_of = [](const std::vector<int64_t>& numbers) {
    return Entropy(std::vector<double>(numbers.begin(), numbers.end()));
  };
  const double n = 12;
  std::vector<double> left_out;
  for (size_t kind = 0; kind < counts.size(); ++kind) {
    std::vector<int64_t> fewer = counts;
    --fewer[kind];
    left_out.insert(left_out.end(), counts[kind], entropy_of(fewer));
  }
  double mean = 0;
  for (const double value : left_out) mean += value / n;
  double squares = 0;
  for (const double value : left_out)
    squares += (value - mean) * (value - mean);
  const Interval interval = EntropyOfCounts(counts);
  EXPECT_NEAR(interval.mean, n * entropy_of(counts) - (n - 1) * mean, 1e-12);
  EXPECT_NEAR(interval.high - interval.mean,
              kNormalQuantile95 * std::sqrt((n - 1) / n * squares), 1e-12);
}

TEST(EntropyTest, CoversTheTruthAndIsHardlyBiased) {
  const std::vector<double> weights = Harmonic(20);
  const double truth = Entropy(weights);
  Random random(1);
  constexpr int kSamples = 1000;
  int covered = 0;
  double sum = 0;
  double plain_sum = 0;
  for (int sample = 0; sample < kSamples; ++sample) {
    const std::vector<int64_t> counts = Draw(weights, 200, random);
    const Interval interval = EntropyOfCounts(counts);
    covered += interval.low <= truth && truth <= interval.high;
    sum += interval.mean;
    plain_sum += Entropy(std::vector<double>(counts.begin(), counts.end()));
  }
  // Two standard errors of 95 % over 1000 samples are 1.4 %.
  EXPECT_NEAR(covered / double{kSamples}, 0.945, 0.02);
  // The plain one is too low by about (20 - 1) / 400.
  EXPECT_NEAR(plain_sum / kSamples, truth - 0.0475, 0.01);
  EXPECT_NEAR(sum / kSamples, truth, 0.01);
}

TEST(EntropyTest, OneObservationSaysNothing) {
  const Interval interval = EntropyOfCounts({1});
  EXPECT_EQ(interval.low, 0);
  EXPECT_EQ(interval.high, std::numeric_limits<double>::infinity());
  EXPECT_EQ(EntropyOfCounts({}).high, std::numeric_limits<double>::infinity());
}

TEST(EntropyTest, OneKindIsOneChoice) {
  const Interval choices = EquivalentChoices(EntropyOfCounts({40}));
  EXPECT_EQ(choices.low, 1);
  EXPECT_NEAR(choices.mean, 1, 1e-12);
  EXPECT_NEAR(choices.high, 1, 1e-12);
  EXPECT_NEAR(EquivalentChoices({std::log(4), 0, std::log(8)}).mean, 4, 1e-12);
}

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
  EXPECT_GE(fit.steps[5].curve, 0.5);
  EXPECT_LT(fit.steps[6].curve, 0.5);
  EXPECT_EQ(fit.even_points.low, 2.5);
  EXPECT_EQ(fit.even_points.high, 3);
}

TEST(LadderTest, APointBeyondTheLadderHasNoBound) {
  Random random(4);
  const LadderFit fit =
      FitLadder(Ladder(Step(0.9, 0.1, 10), 8, 100, 0, 1, random));
  EXPECT_EQ(fit.even_points.low, 4);
  EXPECT_TRUE(std::isinf(fit.even_points.high));
  EXPECT_GE(fit.steps.back().curve, 0.5);
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
