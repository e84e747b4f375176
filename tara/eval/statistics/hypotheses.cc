#include "tara/eval/statistics/hypotheses.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "tara/base/check.h"

namespace tara {
namespace {

// Returns the places of the p-values, the least first.
std::vector<size_t> Increasing(absl::Span<const double> p_values) {
  std::vector<size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t x, size_t y) {
    return p_values[x] < p_values[y];
  });
  return order;
}

}  // namespace

double BinomialUpperTail(int64_t successes, int64_t trials, double p) {
  TARA_CHECK(successes >= 0 && successes <= trials, "impossible successes");
  TARA_CHECK(p > 0 && p < 1, "not a probability between 0 and 1");
  if (successes == 0) return 1;
  const auto n = static_cast<double>(trials);
  double sum = 0;
  for (int64_t i = successes; i <= trials; ++i) {
    const auto k = static_cast<double>(i);
    sum += std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) -
                    std::lgamma(n - k + 1) + k * std::log(p) +
                    (n - k) * std::log1p(-p));
  }
  return std::min(1.0, sum);
}

double SignTest(int64_t wins, int64_t losses) {
  return std::min(
      1.0, 2 * BinomialUpperTail(std::max(wins, losses), wins + losses, 0.5));
}

double NormalTwoSided(double z) { return std::erfc(std::abs(z) / M_SQRT2); }

std::vector<double> HolmAdjusted(absl::Span<const double> p_values) {
  const std::vector<size_t> order = Increasing(p_values);
  std::vector<double> adjusted(p_values.size());
  double largest = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const auto left = static_cast<double>(order.size() - i);
    largest = std::max(largest, std::min(1.0, left * p_values[order[i]]));
    adjusted[order[i]] = largest;
  }
  return adjusted;
}

std::vector<double> BenjaminiHochbergAdjusted(
    absl::Span<const double> p_values) {
  const std::vector<size_t> order = Increasing(p_values);
  std::vector<double> adjusted(p_values.size());
  const auto count = static_cast<double>(order.size());
  double least = 1;
  for (size_t i = order.size(); i-- > 0;) {
    const auto rank = static_cast<double>(i + 1);
    least = std::min(least, count / rank * p_values[order[i]]);
    adjusted[order[i]] = least;
  }
  return adjusted;
}

}  // namespace tara
