#include "tara/eval/statistics/entropy.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tara/base/check.h"

namespace tara::eval {
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

}  // namespace tara::eval
