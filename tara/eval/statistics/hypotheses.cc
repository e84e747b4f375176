#include "tara/eval/statistics/hypotheses.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "tara/base/check.h"

namespace tara::eval {
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

// Returns the continued fraction F in I_x(a, b) = x^a (1 - x)^b / (a B(a, b))
// F: 1 / (1 + d_1 / (1 + d_2 / (1 + ...))) with
//   d_2m   =  m (b - m) x / ((a + 2m - 1) (a + 2m))
//   d_2m+1 = -(a + m) (a + b + m) x / ((a + 2m) (a + 2m + 1)),
// by the method of Lentz (1976, Applied Optics 15): `numerator` and
// `denominator` are the ratios of successive ones of the convergents.
double BetaFraction(double a, double b, double x) {
  constexpr double kPrecision = 1e-15;
  constexpr double kTiny = 1e-300;  // in place of 0
  constexpr int kMaxSteps = 1000000;
  const auto not_zero = [](double value) {
    return std::abs(value) < kTiny ? kTiny : value;
  };
  double numerator = 1;
  double denominator = 1 / not_zero(1 - (a + b) * x / (a + 1));
  double fraction = denominator;
  for (int m = 1; m < kMaxSteps; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd =
        -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double factor = 1;
    for (const double d : {even, odd}) {
      denominator = 1 / not_zero(1 + d * denominator);
      numerator = not_zero(1 + d / numerator);
      factor = numerator * denominator;
      fraction *= factor;
    }
    if (std::abs(factor - 1) < kPrecision) break;
  }
  return fraction;
}

}  // namespace

double IncompleteBeta(double a, double b, double x) {
  TARA_CHECK(a > 0 && b > 0, "not a beta distribution");
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double factor =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
               a * std::log(x) + b * std::log1p(-x));
  // Where the fraction converges fast; elsewhere by I_x(a, b) = 1 -
  // I_(1-x)(b, a).
  if (x < (a + 1) / (a + b + 2)) return factor * BetaFraction(a, b, x) / a;
  return 1 - factor * BetaFraction(b, a, 1 - x) / b;
}

double BetaQuantile(double a, double b, double p) {
  constexpr int kBits = 60;
  double low = 0;
  double high = 1;
  for (int bit = 0; bit < kBits; ++bit) {
    const double x = (low + high) / 2;
    (IncompleteBeta(a, b, x) < p ? low : high) = x;
  }
  return (low + high) / 2;
}

double NormalTwoSided(double z) { return std::erfc(std::abs(z) / M_SQRT2); }

double StudentTwoSided(double t, double degrees) {
  return IncompleteBeta(degrees / 2, 0.5, degrees / (degrees + t * t));
}

double StudentQuantile95(double degrees) {
  // t^2 / (degrees + t^2) has the beta distribution of 1/2 and degrees / 2.
  const double x = BetaQuantile(0.5, degrees / 2, 0.95);
  return std::sqrt(degrees * x / (1 - x));
}

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

}  // namespace tara::eval
