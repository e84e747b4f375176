#include "tara/eval/balance/fair_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include "tara/base/check.h"

namespace tara::eval {
namespace {

constexpr double kChiSquare95 = 3.841458820694124;  // one degree of freedom
constexpr double kSteepest = 4;
// The part of s0 that is a logistic distribution, and its least deviation.
constexpr double kSmoothPart = 0.02;
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
      score += margin > points ? 1 : (margin < points ? 0 : 0.5);
    }
    const double smooth = Logistic((mean - points) / scale);
    const double predicted =
        (1 - kSmoothPart) * score / count + kSmoothPart * smooth;
    logits_[halves + 24] = Logit(std::clamp(predicted, 1e-12, 1 - 1e-12));
  }
  for (const int margin : margins) Add(0, (margin > 0) - (margin < 0));
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
  // 3. The half points that are nearest to the ends.
  const auto nearest_to = [&](double u) {
    int nearest = range_.low;
    for (int c = range_.low; c <= range_.high; ++c) {
      if (std::abs(Predicted(c) - u) < std::abs(Predicted(nearest) - u)) {
        nearest = c;
      }
    }
    return nearest;
  };
  const bool low_open = high_end > Predicted(range_.low);
  const bool high_open = low_end < Predicted(range_.high);
  estimate_.low = low_open ? range_.low - 1 : nearest_to(high_end);
  estimate_.high = high_open ? range_.high + 1 : nearest_to(low_end);
  const auto distance = [&, crossing = crossing](int c) {
    return std::abs(Logistic(slope * (Predicted(c) - crossing)) - 0.5);
  };
  const int first = std::clamp(estimate_.low, range_.low, range_.high);
  const int last = std::clamp(estimate_.high, range_.low, range_.high);
  double nearest = 1;
  for (int c = first; c <= last; ++c) nearest = std::min(nearest, distance(c));
  bool found = false;
  for (int c = first; c <= last; ++c) {
    if (distance(c) > nearest + kScoreTolerance) continue;
    if (!found || std::abs(c) < std::abs(estimate_.halves)) {
      estimate_.halves = c;
    }
    found = true;
  }
  for (auto& [halves, games] : games_) {
    games.fitted = Logistic(slope * (Predicted(halves) - crossing));
  }
}

std::vector<CompensationBlock> FairSearch::Next(int most) const {
  const int games = std::min(most, kSearchBlock);
  // What is left of the range.
  const int first = std::max(range_.low, estimate_.low);
  const int last = std::min(range_.high, estimate_.high);
  if (games <= 0 || first >= last) return {};
  const int at = estimate_.halves;
  if (first >= at - 1 && last <= at + 1) return {{at, games}};
  int distance = kDistances.back();
  for (const int each : kDistances) {
    distance = each;
    if (estimate_.low <= at - each || estimate_.high >= at + each) break;
  }
  const int below = std::max(range_.low, at - distance);
  const int above = std::min(range_.high, at + distance);
  return {{below, games / 2}, {above, games - games / 2}};
}

}  // namespace tara::eval
