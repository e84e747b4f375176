#include "tara/eval/balance/ladder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "tara/base/check.h"
#include "tara/eval/statistics/hypotheses.h"

namespace tara::eval {
namespace {

constexpr int kMostSteps = 100;
constexpr double kPrior = 0.25;  // of a win, and of a loss, at each step

double Logistic(double x) { return 1 / (1 + std::exp(-x)); }

// Of logit s = a + d * (-c): symmetric.
struct Matrix {
  double aa = 0, ad = 0, dd = 0;

  void Add(double weight, double x, double y) {
    aa += weight * x * x;
    ad += weight * x * y;
    dd += weight * y * y;
  }
  Matrix Inverse() const {
    const double determinant = aa * dd - ad * ad;
    return {dd / determinant, -ad / determinant, aa / determinant};
  }
  std::pair<double, double> Times(double x, double y) const {
    return {aa * x + ad * y, ad * x + dd * y};
  }
};

}  // namespace

double LadderFit::ScoreAt(double points) const {
  return Logistic(a - b * points);
}

LadderFit FitLadder(absl::Span<const LadderGame> games) {
  std::set<double> steps;
  int clusters = 0;
  for (const LadderGame& game : games) {
    steps.insert(game.points);
    clusters = std::max(clusters, game.cluster + 1);
  }
  TARA_CHECK(steps.size() >= 2, "a ladder of one step");

  LadderFit fit;
  Matrix information;
  for (int step = 0; step < kMostSteps; ++step) {
    information = {};
    double gradient_a = 0, gradient_b = 0;
    const auto add = [&](double points, double weight, double score) {
      const double s = fit.ScoreAt(points);
      gradient_a += weight * (score - s);
      gradient_b -= weight * (score - s) * points;
      information.Add(weight * s * (1 - s), 1, -points);
    };
    for (const LadderGame& game : games) add(game.points, 1, game.score);
    for (const double points : steps) add(points, 2 * kPrior, 0.5);
    auto [da, db] = information.Inverse().Times(gradient_a, gradient_b);
    // Newton's method overshoots where most scores are 0 or 1.
    const double longest = std::max(std::abs(da), std::abs(db));
    const double scale = std::min(1.0, 1 / longest);
    fit.a += scale * da;
    fit.b += scale * db;
    if (longest < 1e-10) break;
  }

  std::vector<std::pair<double, double>> sums(clusters);
  for (const LadderGame& game : games) {
    const double error = game.score - fit.ScoreAt(game.points);
    sums[game.cluster].first += error;
    sums[game.cluster].second -= error * game.points;
  }
  const double n = clusters;
  Matrix meat;
  for (const auto& [x, y] : sums) meat.Add(n / std::max(1.0, n - 1), x, y);
  // What the prior adds, so that equal scores do not leave an error of 0.
  for (const double points : steps) {
    const double s = fit.ScoreAt(points);
    meat.Add(2 * kPrior * s * (1 - s), 1, -points);
  }
  const Matrix inverse = information.Inverse();
  // inverse * meat * inverse, by columns.
  const auto [aa, da] = inverse.Times(meat.aa, meat.ad);
  const auto [ad, dd] = inverse.Times(meat.ad, meat.dd);
  const auto [var_a, cov] = inverse.Times(aa, ad);
  const double var_b = inverse.Times(da, dd).second;

  // The ends solve (a - b c)^2 = t^2 (var_a - 2 c cov + c^2 var_b), with cov of
  // a and b.
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double t2 = std::pow(StudentQuantile95(std::max(1.0, n - 1)), 2);
  const double x2 = fit.b * fit.b - t2 * var_b;
  const double x1 = fit.a * fit.b - t2 * cov;
  const double x0 = fit.a * fit.a - t2 * var_a;
  fit.even_points = {fit.a / fit.b, -kInfinity, kInfinity};
  if (x2 > 0 && fit.b > 0) {
    const double root = std::sqrt(std::max(0.0, x1 * x1 - x2 * x0));
    fit.even_points.low = (x1 - root) / x2;
    fit.even_points.high = (x1 + root) / x2;
  }
  return fit;
}

}  // namespace tara::eval
