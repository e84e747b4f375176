#include "tara/eval/statistics/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

#include "tara/base/check.h"
#include "tara/eval/statistics/hypotheses.h"

namespace tara::eval {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// More are no use, and tails of so many take long to compute.
constexpr double kMaxTrials = 1e8;

}  // namespace

Interval MeanInterval(absl::Span<const double> values) {
  if (values.empty()) return {0, -kInfinity, kInfinity};
  const auto n = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += value;
  const double mean = sum / n;
  if (values.size() == 1) return {mean, -kInfinity, kInfinity};
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double half_width =
      StudentQuantile95(n - 1) * std::sqrt(squares / (n - 1) / n);
  return {mean, mean - half_width, mean + half_width};
}

Interval WilsonInterval(double proportion, double trials) {
  TARA_CHECK(proportion >= 0 && proportion <= 1, "not a proportion");
  TARA_CHECK(trials > 0, "a proportion without trials");
  const double z2 = kNormalQuantile95 * kNormalQuantile95;
  const double middle = proportion + z2 / (2 * trials);
  const double half_width =
      kNormalQuantile95 * std::sqrt(proportion * (1 - proportion) / trials +
                                    z2 / (4 * trials * trials));
  const double scale = 1 + z2 / trials;
  // At 0 and 1 an end is the proportion itself; rounding must not move it.
  return {proportion, proportion == 0 ? 0 : (middle - half_width) / scale,
          proportion == 1 ? 1 : (middle + half_width) / scale};
}

Interval ClopperPearsonInterval(double proportion, double trials) {
  TARA_CHECK(proportion >= 0 && proportion <= 1, "not a proportion");
  TARA_CHECK(trials > 0, "a proportion without trials");
  constexpr double kTail = 0.025;
  const double successes = proportion * trials;
  const double failures = (1 - proportion) * trials;
  return {
      proportion,
      proportion == 0 ? 0 : BetaQuantile(successes, failures + 1, kTail),
      proportion == 1 ? 1 : BetaQuantile(successes + 1, failures, 1 - kTail)};
}

namespace {

// A mean score, and the number of wins and losses that vary as it does: n*.
struct ScoreTrials {
  double score;
  double trials;
};

// REQUIRES: at least one score.
ScoreTrials TrialsOf(const ScoreSums& sums) {
  const double n = sums.count;
  const double mean = (sums.sum + 1) / (n + 2);
  const double variance = (sums.squares + 1) / (n + 2) - mean * mean;
  const double trials = n * mean * (1 - mean) / variance;
  return {.score = std::clamp(sums.sum / n, 0.0, 1.0),
          .trials = std::min(trials, kMaxTrials)};
}

ScoreSums SumsOf(absl::Span<const double> scores) {
  ScoreSums sums;
  for (const double score : scores) {
    ++sums.count;
    sums.sum += score;
    sums.squares += score * score;
  }
  return sums;
}

}  // namespace

Interval ScoreIntervalOf(const ScoreSums& sums) {
  if (sums.count == 0) return {0.5, 0, 1};
  const auto [score, trials] = TrialsOf(sums);
  return ClopperPearsonInterval(score, trials);
}

Interval ScoreInterval(absl::Span<const double> scores) {
  return ScoreIntervalOf(SumsOf(scores));
}

double EvenScoreTest(const ScoreSums& sums) {
  if (sums.count == 0) return 1;
  const auto [score, trials] = TrialsOf(sums);
  // P(X >= more) of so many trials of chance 1/2; the other tail mirrors it.
  const double more = std::max(score, 1 - score) * trials;
  return std::min(1.0, 2 * IncompleteBeta(more, trials - more + 1, 0.5));
}

double EvenScoreTest(absl::Span<const double> scores) {
  return EvenScoreTest(SumsOf(scores));
}

void RatioSums::Add(double numerator, double denominator) {
  ++games;
  x += numerator;
  y += denominator;
  xx += numerator * numerator;
  xy += numerator * denominator;
  yy += denominator * denominator;
}

Interval RatioInterval(const RatioSums& sums) {
  TARA_CHECK(sums.y > 0, "a ratio to nothing");
  const double ratio = sums.x / sums.y;
  if (sums.games < 2) return {ratio, -kInfinity, kInfinity};
  // Rounding must not make it negative where the ratios do not vary.
  const double squared_deviations =
      std::max(0.0, sums.xx - 2 * ratio * sums.xy + ratio * ratio * sums.yy);
  const double mean_y = sums.y / sums.games;
  const double half_width =
      kNormalQuantile95 *
      std::sqrt(squared_deviations / (sums.games - 1) / sums.games) / mean_y;
  return {ratio, ratio - half_width, ratio + half_width};
}

double EloDifference(double score) {
  TARA_CHECK(score >= 0 && score <= 1, "not a score");
  if (score == 0) return -kInfinity;
  if (score == 1) return kInfinity;
  return 400 * std::log10(score / (1 - score));
}

namespace {

// n ln n, 0 at 0.
double NLogN(double n) { return n > 0 ? n * std::log(n) : 0; }

}  // namespace

double Entropy(absl::Span<const double> weights) {
  double sum = 0;
  double weighted_logs = 0;
  for (const double weight : weights) {
    TARA_CHECK(weight >= 0, "a negative weight");
    sum += weight;
    weighted_logs += NLogN(weight);
  }
  return sum > 0 ? std::max(0.0, std::log(sum) - weighted_logs / sum) : 0;
}

Interval EntropyOfCounts(absl::Span<const int64_t> counts) {
  double n = 0;
  double logs = 0;
  for (const int64_t count : counts) {
    TARA_CHECK(count > 0, "a kind without observations");
    n += static_cast<double>(count);
    logs += NLogN(static_cast<double>(count));
  }
  if (n < 2) return {0, 0, std::numeric_limits<double>::infinity()};
  const double entropy = std::log(n) - logs / n;
  const auto without = [&](double count) {
    return std::log(n - 1) - (logs - NLogN(count) + NLogN(count - 1)) / (n - 1);
  };
  double mean = 0;
  for (const int64_t count : counts) {
    const auto number = static_cast<double>(count);
    mean += number / n * without(number);
  }
  double squares = 0;
  for (const int64_t count : counts) {
    const auto number = static_cast<double>(count);
    const double deviation = without(number) - mean;
    squares += number * deviation * deviation;
  }
  const double estimate = std::max(0.0, n * entropy - (n - 1) * mean);
  const double half_width =
      kNormalQuantile95 * std::sqrt((n - 1) / n * squares);
  return {estimate, std::max(0.0, estimate - half_width),
          estimate + half_width};
}

Interval EquivalentChoices(const Interval& entropy) {
  return {std::exp(entropy.mean), std::exp(entropy.low),
          std::exp(entropy.high)};
}

double Quantile(absl::Span<const double> sorted, double p) {
  TARA_CHECK(!sorted.empty(), "a quantile of nothing");
  TARA_CHECK(p >= 0 && p <= 1, "not a probability");
  const double h = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(h);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] +
         (h - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

std::vector<double> BootstrapReplicates(int size, int replicates,
                                        const IndexStatistic& statistic,
                                        Random& random) {
  TARA_CHECK(size > 0 && replicates > 0, "nothing to draw from");
  std::vector<int> indices(size);
  std::vector<double> values(replicates);
  for (double& value : values) {
    for (int& index : indices) {
      index = static_cast<int>(random.Below(static_cast<uint32_t>(size)));
    }
    value = statistic(indices);
  }
  return values;
}

Interval BootstrapInterval(int size, int replicates,
                           const IndexStatistic& statistic, Random& random) {
  std::vector<double> values =
      BootstrapReplicates(size, replicates, statistic, random);
  std::sort(values.begin(), values.end());
  std::vector<int> sample(size);
  std::iota(sample.begin(), sample.end(), 0);
  return {statistic(sample), Quantile(values, 0.025), Quantile(values, 0.975)};
}

}  // namespace tara::eval
