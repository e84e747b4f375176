#include "tara/eval/statistics/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <vector>

#include "tara/base/check.h"
#include "tara/eval/statistics/hypotheses.h"

namespace tara::eval {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// More do not help, and their tails take long to compute.
constexpr double kMaxTrials = 1e8;
// Largest difference of values that count as equal.
constexpr double kRounding = 1e-12;

struct Cluster {
  double count = 0;
  double sum = 0;

  double mean() const { return sum / count; }
};

// REQUIRES: one value per cluster number, or no clusters.
std::vector<Cluster> Clustered(absl::Span<const double> values,
                               Clusters clusters) {
  TARA_CHECK(clusters.empty() || clusters.size() == values.size(),
             "each value has a cluster");
  std::vector<Cluster> all;
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t of = clusters.empty() ? i : static_cast<size_t>(clusters[i]);
    if (of >= all.size()) all.resize(of + 1);
    ++all[of].count;
    all[of].sum += values[i];
  }
  std::erase_if(all, [](const Cluster& each) { return each.count == 0; });
  return all;
}

}  // namespace

std::vector<int> MakeClusters(absl::Span<const uint64_t> keys) {
  std::unordered_map<uint64_t, int> numbers;
  std::vector<int> clusters;
  int next = 0;
  for (const uint64_t key : keys) {
    if (key == 0) {
      clusters.push_back(next++);
      continue;
    }
    const auto [found, is_new] = numbers.emplace(key, next);
    next += is_new;
    clusters.push_back(found->second);
  }
  return clusters;
}

int DifferentIn(Clusters clusters) {
  return clusters.empty()
             ? 0
             : 1 + *std::max_element(clusters.begin(), clusters.end());
}

double EffectiveCount(size_t values, Clusters clusters) {
  const auto n = static_cast<double>(values);
  if (clusters.empty()) return n;
  double squares = 0;
  const std::vector<double> ones(values, 1);
  for (const Cluster& each : Clustered(ones, clusters)) {
    squares += each.count * each.count;
  }
  return n * n / squares;
}

Interval MeanInterval(absl::Span<const double> values, Clusters clusters) {
  if (values.empty()) return {0, -kInfinity, kInfinity};
  double sum = 0;
  for (const double value : values) sum += value;
  const double mean = sum / static_cast<double>(values.size());
  const double n = EffectiveCount(values.size(), clusters);
  const double unit = n / static_cast<double>(values.size());
  double squares = 0;
  bool alike = true;
  for (const Cluster& each : Clustered(values, clusters)) {
    const double deviation = each.mean() - mean;
    squares += each.count * unit * deviation * deviation;
    alike = alike && std::abs(deviation) <= kRounding * (1 + std::abs(mean));
  }
  if (n < 2 || (alike && n < kMinEqualValues))
    return {mean, -kInfinity, kInfinity};
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

}  // namespace

ScoreSums SumScores(absl::Span<const double> scores, Clusters clusters) {
  ScoreSums sums = {.count = EffectiveCount(scores.size(), clusters)};
  const double unit = sums.count / static_cast<double>(scores.size());
  for (const Cluster& each : Clustered(scores, clusters)) {
    sums.sum += unit * each.sum;
    sums.squares += unit * each.count * each.mean() * each.mean();
  }
  return sums;
}

Interval ScoreIntervalOf(const ScoreSums& sums) {
  if (sums.count == 0) return {0.5, 0, 1};
  const auto [score, trials] = TrialsOf(sums);
  return ClopperPearsonInterval(score, trials);
}

Interval ScoreInterval(absl::Span<const double> scores, Clusters clusters) {
  return ScoreIntervalOf(SumScores(scores, clusters));
}

double EvenScoreTest(const ScoreSums& sums) {
  if (sums.count == 0) return 1;
  const auto [score, trials] = TrialsOf(sums);
  // P(X >= more) for that many trials with probability 1/2; the other tail
  // mirrors it.
  const double more = std::max(score, 1 - score) * trials;
  return std::min(1.0, 2 * IncompleteBeta(more, trials - more + 1, 0.5));
}

double EvenScoreTest(absl::Span<const double> scores, Clusters clusters) {
  return EvenScoreTest(SumScores(scores, clusters));
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
  if (half_width < kRounding && n < kMinEqualValues) {
    return {estimate, 0, kInfinity};
  }
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
