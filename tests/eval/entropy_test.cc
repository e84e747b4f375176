#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {
namespace {

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

TEST(EntropyTest, HasThePublishedValues) {
  // SciPy's documentation of scipy.stats.entropy, there in bits.
  EXPECT_DOUBLE_EQ(Entropy({0.5, 0.5}) / std::log(2), 1);
  EXPECT_NEAR(Entropy({0.9, 0.1}) / std::log(2), 0.46899559358928117, 1e-12);
  EXPECT_DOUBLE_EQ(Entropy({3, 3, 3}), std::log(3));
  EXPECT_EQ(Entropy({0, 5}), 0);
  EXPECT_EQ(Entropy({0, 0}), 0);
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

}  // namespace
}  // namespace tara::eval
