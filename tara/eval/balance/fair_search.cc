#include "tara/eval/balance/fair_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include "tara/base/check.h"
#include "tara/core/outcome.h"

namespace tara::eval {
namespace {

constexpr double kChiSquare95 = 3.841458820694124;  // one degree of freedom
constexpr double kSteepest = 4;
// The part of s0 that is a logistic distribution, and its least deviation.
constexpr double kSmoothPart = 0.005;
constexpr double kLeastDeviation = 3;
// What u far from 0 costs where games leave it open.
constexpr double kPrior = 0.005;
// Distances from the estimate at which games are played, in half points.
constexpr std::array kDistances = {6, 4, 2, 1};

double Logit(double share) { return std::log(share / (1 - share)); }
double Logistic(double logit) { return 1 / (1 + std::exp(-logit)); }

// Returns ln(Logistic(logit)).
double LogLogistic(double logit) {
  return logit > 0 ? -std::log1p(std::exp(-logit))
                   : logit - std::log1p(std::exp(logit));
}

// Returns the greatest value of a function with one peak, and where it is, by
// golden sections.
template <typename Function>
std::pair<double, double> Peak(double low, double high, int steps,
                               const Function& function) {
  const double golden = (std::sqrt(5.0) - 1) / 2;
  double left = high - golden * (high - low);
  double right = low + golden * (high - low);
  double at_left = function(left);
  double at_right = function(right);
  for (int step = 0; step < steps; ++step) {
    if (at_left < at_right) {
      low = std::exchange(left, right);
      at_left = at_right;
      right = low + golden * (high - low);
      at_right = function(right);
    } else {
      high = std::exchange(right, left);
      at_right = at_left;
      left = high - golden * (high - low);
      at_left = function(left);
    }
  }
  return at_left > at_right ? std::pair(at_left, left)
                            : std::pair(at_right, right);
}

}  // namespace

FairSearch::FairSearch(absl::Span<const int> margins,
                       const CompensationRange& range)
    : range_(range) {
  TARA_CHECK(!margins.empty(), "a search without games");
  TARA_CHECK(range.low <= 0 && range.high >= 0, "a range without 0");
  const auto count = static_cast<double>(margins.size());
  double mean = 0;
  for (const int margin : margins) mean += margin / count;
  double variance = 0;
  for (const int margin : margins) {
    variance += (margin - mean) * (margin - mean) / count;
  }
  const double deviation = std::max(kLeastDeviation, std::sqrt(variance));
  const double scale = deviation * std::sqrt(3.0) / M_PI;
  for (int halves = -24; halves <= 24; ++halves) {
    const double points = halves / 2.0;
    double score = 0;
    for (const int margin : margins) {
      score += (1 + ResultOfMargin(margin, halves)) / 2.0;
    }
    const double smooth = Logistic((mean - points) / scale);
    const double predicted =
        (1 - kSmoothPart) * score / count + kSmoothPart * smooth;
    logits_[halves + 24] = Logit(std::clamp(predicted, 1e-12, 1 - 1e-12));
  }
  for (const int margin : margins) Add(0, ResultOfMargin(margin, 0));
  Fit();
}

void FairSearch::Add(int halves, int result) {
  TARA_CHECK(halves >= range_.low && halves <= range_.high, "out of range");
  CompensationGames& games = games_[halves];
  ++(result > 0 ? games.wins : result < 0 ? games.losses : games.draws);
}

double FairSearch::LogLikelihood(double crossing, double slope) const {
  double sum = -kPrior * crossing * crossing;
  for (const auto& [halves, games] : games_) {
    const double logit = slope * (Predicted(halves) - crossing);
    sum += (games.wins + games.draws / 2.0) * LogLogistic(logit) +
           (games.losses + games.draws / 2.0) * LogLogistic(-logit);
  }
  return sum;
}

FairSearch::Best FairSearch::MostLikely(double crossing) const {
  const double bound = std::log(kSteepest);
  const auto [most, log_slope] = Peak(-bound, bound, 14, [&](double log_slope) {
    return LogLikelihood(crossing, std::exp(log_slope));
  });
  return {most, std::exp(log_slope)};
}

void FairSearch::Fit() {
  // 1. The likeliest crossing u, first among so many.
  constexpr int kCrossings = 40;
  const double least = Predicted(range_.high) - 1;
  const double step = (Predicted(range_.low) + 1 - least) / kCrossings;
  const auto profile = [&](double u) { return MostLikely(u).log_likelihood; };
  int best = 0;
  double most = profile(least);
  for (int i = 1; i <= kCrossings; ++i) {
    const double here = profile(least + i * step);
    if (here > most) most = here, best = i;
  }
  const auto [peak, crossing] =
      Peak(least + std::max(0, best - 1) * step,
           least + std::min(kCrossings, best + 1) * step, 16, profile);
  const double slope = MostLikely(crossing).slope;
  // 2. Its interval: outwards by steps as long as it is likely enough.
  const auto likely = [&, peak = peak](double u) {
    return 2 * (peak - profile(u)) <= kChiSquare95;
  };
  const auto end = [&, crossing = crossing](double direction) {
    double inside = crossing;
    for (double length = 0.25; length > 0.005;) {
      const double next = inside + direction * length;
      const bool beyond = next < least || next > least + kCrossings * step;
      if (!beyond && likely(next)) {
        inside = next;
      } else {
        length /= 2;
      }
    }
    return inside + direction * 0.01;
  };
  const double low_end = end(-1);
  const double high_end = end(+1);
  // 3. How far half points are from even, in logits, if the crossing is at u.
  const auto distance = [&](int c, double u) {
    return slope * std::abs(Predicted(c) - u);
  };
  const auto nearest_to = [&](double u) {
    int nearest = range_.low;
    for (int c = range_.low; c <= range_.high; ++c) {
      if (distance(c, u) < distance(nearest, u)) nearest = c;
    }
    return nearest;
  };
  // As good: nearly the same, as where margins do not occur.
  const auto as_good = [&](int c, double u) {
    return distance(c, u) <= distance(nearest_to(u), u) + 4 * kScoreTolerance;
  };
  const bool low_open = high_end > Predicted(range_.low);
  const bool high_open = low_end < Predicted(range_.high);
  first_ = low_open ? range_.low : nearest_to(high_end);
  last_ = high_open ? range_.high : nearest_to(low_end);
  estimate_.beyond =
      crossing > Predicted(range_.low) || crossing < Predicted(range_.high);
  // 4. The estimate and the interval, with those that are as good.
  estimate_.halves = nearest_to(crossing);
  for (int c = range_.low; c <= range_.high; ++c) {
    if (as_good(c, crossing) && std::abs(c) < std::abs(estimate_.halves)) {
      estimate_.halves = c;
    }
  }
  estimate_.low = first_;
  estimate_.high = last_;
  while (estimate_.low > range_.low && as_good(estimate_.low - 1, high_end)) {
    --estimate_.low;
  }
  while (estimate_.high < range_.high && as_good(estimate_.high + 1, low_end)) {
    ++estimate_.high;
  }
  estimate_.low = std::min(estimate_.low, estimate_.halves);
  estimate_.high = std::max(estimate_.high, estimate_.halves);
  if (low_open) estimate_.low = range_.low - 1;
  if (high_open) estimate_.high = range_.high + 1;
  for (auto& [halves, games] : games_) {
    games.fitted = Logistic(slope * (Predicted(halves) - crossing));
  }
}

std::vector<CompensationBlock> FairSearch::Next(int most) const {
  const int games = std::min(most, kSearchBlock);
  if (games <= 0 || first_ >= last_) return {};
  const int at = estimate_.halves;
  if (first_ >= at - 1 && last_ <= at + 1) return {{at, games}};
  int distance = kDistances.back();
  for (const int each : kDistances) {
    distance = each;
    if (first_ <= at - each || last_ >= at + each) break;
  }
  const int below = std::max(range_.low, at - distance);
  const int above = std::min(range_.high, at + distance);
  return {{below, games / 2}, {above, games - games / 2}};
}

}  // namespace tara::eval
