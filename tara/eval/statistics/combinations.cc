#include "tara/eval/statistics/combinations.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "tara/base/check.h"
#include "tara/eval/statistics/hypotheses.h"

namespace tara::eval {

Interval LinearCombination(absl::Span<const double> coefficients,
                           absl::Span<const Interval> estimates) {
  TARA_CHECK(coefficients.size() == estimates.size(),
             "a coefficient for each estimate");
  double sum = 0, below = 0, above = 0;
  for (size_t i = 0; i < estimates.size(); ++i) {
    const double a = coefficients[i];
    const Interval& e = estimates[i];
    if (a == 0) continue;
    sum += a * e.mean;
    const double down = a * (e.mean - (a > 0 ? e.low : e.high));
    const double up = a * ((a > 0 ? e.high : e.low) - e.mean);
    below += down * down;
    above += up * up;
  }
  return {sum, sum - std::sqrt(below), sum + std::sqrt(above)};
}

Interval Difference(const Interval& first, const Interval& second) {
  return LinearCombination({-1, 1}, {first, second});
}

Interval SlopeOf(absl::Span<const double> x,
                 absl::Span<const Interval> estimates) {
  double mean = 0;
  for (const double each : x) mean += each / static_cast<double>(x.size());
  double squares = 0;
  for (const double each : x) squares += (each - mean) * (each - mean);
  TARA_CHECK(squares > 0, "a slope of one point");
  std::vector<double> coefficients;
  for (const double each : x) coefficients.push_back((each - mean) / squares);
  return LinearCombination(coefficients, estimates);
}

double PValueOf(const Interval& estimate, double null) {
  const double distance = std::abs(estimate.mean - null);
  const double half = estimate.mean > null ? estimate.mean - estimate.low
                                           : estimate.high - estimate.mean;
  if (distance == 0 || !std::isfinite(half)) return 1;
  if (half <= 0) return 0;
  return NormalTwoSided(kNormalQuantile95 * distance / half);
}

Interval BoundedMeanInterval(absl::Span<const double> values,
                             Clusters clusters) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (values.empty()) return {0, -kInfinity, kInfinity};
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double bound =
      std::max(std::abs(*least), std::abs(*most)) + (*least == *most ? 1 : 0);
  std::vector<double> scores;
  for (const double value : values) scores.push_back((1 + value / bound) / 2);
  const Interval score = ScoreInterval(scores, clusters);
  const auto scaled = [&](double s) { return bound * (2 * s - 1); };
  return {scaled(score.mean), scaled(score.low), scaled(score.high)};
}

}  // namespace tara::eval
