#include "tara/eval/rating/rating_plan.h"

#include <algorithm>
#include <cmath>

#include "Eigen/Dense"
#include "tara/base/check.h"

namespace tara::eval {
namespace {

// What games are expected to tell of ratings.
class Plan {
 public:
  explicit Plan(const Ratings& ratings) : ratings_(ratings) {
    const int count = ratings.size();
    covariance_.resize(count, count);
    for (int i = 0; i < count; ++i) {
      for (int j = 0; j < count; ++j) {
        covariance_(i, j) =
            ratings.Covariance(i, j) / (kEloPerNat * kEloPerNat);
      }
    }
  }

  // Returns all pairs in order of their players.
  std::vector<PairChoice> Gains() const {
    const int count = ratings_.size();
    // About the mean: shifts of all ratings count for nothing.
    const Eigen::MatrixXd centred =
        covariance_.rowwise() - covariance_.colwise().mean();
    std::vector<PairChoice> choices;
    for (int i = 0; i < count; ++i) {
      for (int j = i + 1; j < count; ++j) {
        const double trace = (centred.col(i) - centred.col(j)).squaredNorm();
        choices.push_back({.player = i,
                           .other = j,
                           .gain = 2.0 / (count - 1) * Weight(i, j) * trace *
                                   kEloPerNat * kEloPerNat});
      }
    }
    return choices;
  }

  // Takes a pair of games of the two as played.
  void Play(int i, int j) {
    const Eigen::VectorXd u = covariance_.col(i) - covariance_.col(j);
    covariance_ -= Weight(i, j) * u * u.transpose();
  }

 private:
  // I / (1 + I u' C u).
  double Weight(int i, int j) const {
    const double log_nu = std::log(std::max(1e-9, ratings_.draw_nu));
    const double d = ratings_.Difference(i, j).elo / kEloPerNat;
    const double h = ratings_.first_seat.elo / kEloPerNat;
    const double information = InformationOf(ChancesOf(d + h, log_nu)) +
                               InformationOf(ChancesOf(h - d, log_nu));
    const double variance =
        covariance_(i, i) + covariance_(j, j) - 2 * covariance_(i, j);
    return information / (1 + information * variance);
  }

  const Ratings& ratings_;
  Eigen::MatrixXd covariance_;  // nats^2
};

bool TellsMore(const PairChoice& x, const PairChoice& y) {
  return x.gain > y.gain;
}

}  // namespace

std::vector<PairChoice> RankPairs(const Ratings& ratings) {
  std::vector<PairChoice> choices = Plan(ratings).Gains();
  std::stable_sort(choices.begin(), choices.end(), TellsMore);
  return choices;
}

std::vector<PairChoice> ChoosePairs(const Ratings& ratings, int count) {
  TARA_CHECK(ratings.size() >= 2, "nobody to play against");
  Plan plan(ratings);
  std::vector<PairChoice> chosen;
  for (int i = 0; i < count; ++i) {
    const std::vector<PairChoice> gains = plan.Gains();
    // The first of equals.
    chosen.push_back(
        *std::max_element(gains.begin(), gains.end(),
                          [](const PairChoice& x, const PairChoice& y) {
                            return TellsMore(y, x);
                          }));
    plan.Play(chosen.back().player, chosen.back().other);
  }
  return chosen;
}

}  // namespace tara::eval
