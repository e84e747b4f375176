#include "tara/eval/rating/davidson.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tara/base/check.h"

namespace tara::eval {
namespace {

// No rating is further from 0, in nats; halved so often for the likeliest.
constexpr double kFarthest = 100;
constexpr int kHalvings = 80;

}  // namespace

DavidsonChances OutcomeProbabilities(double d, double log_nu) {
  // Divided by the largest of the three, so that none overflows.
  const double top = std::max(std::abs(d) / 2, log_nu);
  const double win = std::exp(d / 2 - top);
  const double draw = std::exp(log_nu - top);
  const double loss = std::exp(-d / 2 - top);
  const double sum = win + draw + loss;
  return {win / sum, draw / sum, loss / sum};
}

double FisherInformation(const DavidsonChances& chances) {
  const double lead = chances.win - chances.loss;
  return (chances.win + chances.loss - lead * lead) / 4;
}

RatingEstimate RateByResults(absl::Span<const RatedResult> results,
                             absl::Span<const double> others, double first_seat,
                             double prior_elo) {
  TARA_CHECK(!others.empty(), "the prior is about the mean of others");
  const auto count = static_cast<double>(others.size());
  // Prior of the player itself, and of the others, about the mean of all.
  const double mean =
      std::accumulate(others.begin(), others.end(), 0.0) / count / kEloPerNat;
  const double precision =
      std::pow(kEloPerNat / prior_elo, 2) * count / (count + 1);
  const auto chances_of = [&](const RatedResult& result, double rating) {
    const double h = (result.began ? first_seat : -first_seat) / kEloPerNat;
    return OutcomeProbabilities(rating - result.opponent.elo / kEloPerNat + h,
                                kNoDraws);
  };
  // The derivative of the posterior's logarithm falls all the way.
  double low = -kFarthest;
  double high = kFarthest;
  for (int i = 0; i < kHalvings; ++i) {
    const double rating = (low + high) / 2;
    double slope = -precision * (rating - mean);
    for (const RatedResult& result : results) {
      slope += result.score - chances_of(result, rating).win;
    }
    (slope > 0 ? low : high) = rating;
  }
  double information = precision;
  double opponents = 0;  // by how much their deviations move the rating
  for (const RatedResult& result : results) {
    const double each = FisherInformation(chances_of(result, low));
    information += each;
    opponents += each * result.opponent.deviation;
  }
  return {.elo = low * kEloPerNat,
          .deviation = std::hypot(kEloPerNat / std::sqrt(information),
                                  opponents / information)};
}

}  // namespace tara::eval
