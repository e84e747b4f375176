#include "tara/eval/rating/ratings.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "Eigen/Dense"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tara/base/check.h"
#include "tara/base/status_macros.h"

namespace tara::eval {
namespace {

// Deviations of the priors of h and ln(nu) about 0, in nats: they matter only
// if no game gives information about them.
constexpr double kFirstSeatPrior = 5;
constexpr double kDrawPrior = 3;
constexpr int kMaxSteps = 100;
constexpr int kMaxHalvings = 40;
constexpr double kSmallStep = 1e-10;  // nats

// The posterior as a function of x = [theta of all players, h, ln(nu)], nats.
class Posterior {
 public:
  Posterior(int players, absl::Span<const SeatResults> results,
            const RatingOptions& options)
      : players_(players), results_(results) {
    const int size = players + 2;
    precision_ = Eigen::MatrixXd::Zero(size, size);
    const double prior = std::pow(kEloPerNat / options.prior_elo, 2);
    // About the mean of all: which players are anchored changes nothing.
    precision_.topLeftCorner(players, players).setConstant(-prior / players);
    precision_.diagonal().head(players).array() += prior;
    precision_(players, players) = 1 / (kFirstSeatPrior * kFirstSeatPrior);
    precision_(players + 1, players + 1) = 1 / (kDrawPrior * kDrawPrior);
    if (options.anchors.empty()) {
      // Nothing says where 0 is: a mean of 0, as if it were known so.
      precision_.topLeftCorner(players, players).array() += 1.0 / players;
    }
  }

  double LogDensity(const Eigen::VectorXd& x) const {
    double sum = -x.dot(precision_ * x) / 2;
    for (const SeatResults& result : results_) {
      const DavidsonChances p = At(x, result);
      // A chance that underflows has been seen nowhere near the maximum.
      if (result.wins > 0) sum += result.wins * std::log(p.win);
      if (result.draws > 0) sum += result.draws * std::log(p.draw);
      if (result.losses > 0) sum += result.losses * std::log(p.loss);
    }
    return sum;
  }

  // Sets the gradient and minus the Hessian (which is the information).
  void Derive(const Eigen::VectorXd& x, Eigen::VectorXd& gradient,
              Eigen::MatrixXd& information) const {
    gradient = -precision_ * x;
    information = precision_;
    for (const SeatResults& result : results_) {
      const auto games =
          static_cast<double>(result.wins + result.draws + result.losses);
      const DavidsonChances p = At(x, result);
      // By d and by ln(nu): a multinomial logit with the scores d/2, ln(nu)
      // and -d/2, so that seen minus expected is the gradient.
      const double by_d =
          ((result.wins - result.losses) - games * (p.win - p.loss)) / 2;
      const double by_nu = result.draws - games * p.draw;
      const double d_d = games * FisherInformation(p);
      const double d_nu = -games * (p.win - p.loss) * p.draw / 2;
      const double nu_nu = games * p.draw * (1 - p.draw);
      const std::pair<int, double> of_d[] = {
          {result.first, 1}, {result.second, -1}, {players_, 1}};
      const int nu = players_ + 1;
      for (const auto& [i, sign] : of_d) {
        gradient[i] += sign * by_d;
        information(i, nu) += sign * d_nu;
        information(nu, i) += sign * d_nu;
        for (const auto& [j, other] : of_d) {
          information(i, j) += sign * other * d_d;
        }
      }
      gradient[nu] += by_nu;
      information(nu, nu) += nu_nu;
    }
  }

 private:
  DavidsonChances At(const Eigen::VectorXd& x,
                     const SeatResults& result) const {
    return OutcomeProbabilities(
        x[result.first] - x[result.second] + x[players_], x[players_ + 1]);
  }

  const int players_;
  const absl::Span<const SeatResults> results_;
  Eigen::MatrixXd precision_;  // of the prior
};

// Maximizes the posterior over the parameters `free`; the others keep their
// values in `x`. Returns the covariance of the free ones.
Eigen::MatrixXd Maximize(const Posterior& posterior,
                         const std::vector<int>& free, Eigen::VectorXd& x) {
  Eigen::VectorXd gradient;
  Eigen::MatrixXd information;
  double density = posterior.LogDensity(x);
  for (int step = 0; step < kMaxSteps; ++step) {
    posterior.Derive(x, gradient, information);
    const Eigen::VectorXd move =
        information(free, free).llt().solve(gradient(free));
    // Newton's step may go too far where results are lopsided.
    double scale = 1;
    for (int halving = 0; halving < kMaxHalvings; ++halving, scale /= 2) {
      Eigen::VectorXd next = x;
      next(free) += scale * move;
      const double next_density = posterior.LogDensity(next);
      if (!(next_density >= density - 1e-12 * std::abs(density))) continue;
      x = next;
      density = next_density;
      break;
    }
    if (move.lpNorm<Eigen::Infinity>() < kSmallStep) break;
  }
  posterior.Derive(x, gradient, information);
  const Eigen::MatrixXd of_free = information(free, free);
  return of_free.llt().solve(
      Eigen::MatrixXd::Identity(of_free.rows(), of_free.cols()));
}

absl::Status CheckPlayer(absl::string_view what, int player, size_t players) {
  if (player >= 0 && static_cast<size_t>(player) < players) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "ratings: ", what, " of player ", player, "; there are ", players));
}

absl::Status CheckInput(absl::Span<const std::string> players,
                        absl::Span<const SeatResults> results,
                        const RatingOptions& options) {
  if (players.empty()) {
    return absl::InvalidArgumentError("ratings: no players");
  }
  if (!(options.prior_elo > 0)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "ratings: prior_elo is ", options.prior_elo, "; expected more than 0"));
  }
  for (const SeatResults& result : results) {
    TARA_RETURN_IF_ERROR(CheckPlayer("games", result.first, players.size()));
    TARA_RETURN_IF_ERROR(CheckPlayer("games", result.second, players.size()));
    if (result.first == result.second) {
      return absl::InvalidArgumentError(
          absl::StrCat("ratings: games of ", players[result.first],
                       " against itself, which say nothing about its rating"));
    }
    if (result.wins < 0 || result.draws < 0 || result.losses < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("ratings: a negative number of games of ",
                       players[result.first], " and ", players[result.second]));
    }
  }
  for (const RatingAnchor& anchor : options.anchors) {
    TARA_RETURN_IF_ERROR(CheckPlayer("anchor", anchor.player, players.size()));
  }
  return absl::OkStatus();
}

// Returns an error that names the parts if games do not join all players.
absl::Status CheckConnected(absl::Span<const std::string> players,
                            absl::Span<const SeatResults> results) {
  std::vector<int> part(players.size());  // of a player: the least index in it
  std::iota(part.begin(), part.end(), 0);
  for (const SeatResults& result : results) {
    if (result.wins + result.draws + result.losses == 0) continue;
    const int from = std::max(part[result.first], part[result.second]);
    const int to = std::min(part[result.first], part[result.second]);
    std::replace(part.begin(), part.end(), from, to);
  }
  std::vector<std::string> parts;
  for (size_t first = 0; first < players.size(); ++first) {
    std::vector<absl::string_view> members;
    for (size_t i = 0; i < players.size(); ++i) {
      if (part[i] == static_cast<int>(first)) members.push_back(players[i]);
    }
    if (!members.empty()) {
      parts.push_back(absl::StrCat("{", absl::StrJoin(members, ", "), "}"));
    }
  }
  if (parts.size() == 1) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "ratings: the players form ", parts.size(),
      " groups without games between them: ", absl::StrJoin(parts, ", ")));
}

}  // namespace

Ratings::Ratings(std::vector<double> elo, std::vector<double> covariance)
    : elo_(std::move(elo)), covariance_(std::move(covariance)) {
  TARA_CHECK(covariance_.size() == elo_.size() * elo_.size(),
             "a covariance for each pair of players");
}

double Ratings::Covariance(int player, int other) const {
  return covariance_[static_cast<size_t>(player) * elo_.size() + other];
}

RatingEstimate Ratings::Of(int player) const {
  return {.elo = elo_[player],
          .deviation = std::sqrt(std::max(0.0, Covariance(player, player)))};
}

RatingEstimate Ratings::Difference(int player, int other) const {
  const double variance = Covariance(player, player) +
                          Covariance(other, other) -
                          2 * Covariance(player, other);
  return {.elo = elo_[player] - elo_[other],
          .deviation = std::sqrt(std::max(0.0, variance))};
}

absl::StatusOr<Ratings> FitRatings(absl::Span<const std::string> players,
                                   absl::Span<const SeatResults> results,
                                   const RatingOptions& options) {
  TARA_RETURN_IF_ERROR(CheckInput(players, results, options));
  if (!options.allow_parts) {
    TARA_RETURN_IF_ERROR(CheckConnected(players, results));
  }
  const int count = static_cast<int>(players.size());
  Eigen::VectorXd x = Eigen::VectorXd::Zero(count + 2);
  std::vector<bool> is_free(count + 2, true);
  for (const RatingAnchor& anchor : options.anchors) {
    x.head(count).setConstant(anchor.elo / kEloPerNat);  // where to start
  }
  for (const RatingAnchor& anchor : options.anchors) {
    x[anchor.player] = anchor.elo / kEloPerNat;
    is_free[anchor.player] = false;
  }
  const bool any_draws =
      std::any_of(results.begin(), results.end(),
                  [](const SeatResults& result) { return result.draws > 0; });
  if (!any_draws) {
    x[count + 1] = kNoDraws;
    is_free[count + 1] = false;
  }
  std::vector<int> free;
  for (int i = 0; i < count + 2; ++i) {
    if (is_free[i]) free.push_back(i);
  }
  const Posterior posterior(count, results, options);
  const Eigen::MatrixXd of_free = Maximize(posterior, free, x);
  Eigen::MatrixXd all = Eigen::MatrixXd::Zero(count + 2, count + 2);
  all(free, free) = of_free;
  Eigen::MatrixXd of_players = all.topLeftCorner(count, count);
  if (options.anchors.empty()) {
    // The mean is 0 by definition, and has no variance.
    const Eigen::MatrixXd centre =
        Eigen::MatrixXd::Identity(count, count) -
        Eigen::MatrixXd::Constant(count, count, 1.0 / count);
    of_players = centre * of_players * centre;
  }
  std::vector<double> elo(count);
  std::vector<double> covariance(static_cast<size_t>(count) * count);
  for (int i = 0; i < count; ++i) {
    elo[i] = x[i] * kEloPerNat;
    for (int j = 0; j < count; ++j) {
      covariance[static_cast<size_t>(i) * count + j] =
          of_players(i, j) * kEloPerNat * kEloPerNat;
    }
  }
  Ratings ratings(std::move(elo), std::move(covariance));
  ratings.first_seat = {.elo = x[count] * kEloPerNat,
                        .deviation = std::sqrt(all(count, count)) * kEloPerNat};
  ratings.draw_nu = any_draws ? std::exp(x[count + 1]) : 0;
  return ratings;
}

Ratings MeanRatings(absl::Span<const Ratings> ratings) {
  TARA_CHECK(!ratings.empty(), "no ratings to take the mean of");
  const int count = ratings[0].size();
  const auto variants = static_cast<double>(ratings.size());
  std::vector<double> elo(count);
  std::vector<double> covariance(static_cast<size_t>(count) * count);
  for (const Ratings& each : ratings) {
    TARA_CHECK(each.size() == count, "ratings of other players");
    for (int i = 0; i < count; ++i) {
      elo[i] += each.Of(i).elo / variants;
      for (int j = 0; j < count; ++j) {
        covariance[static_cast<size_t>(i) * count + j] +=
            each.Covariance(i, j) / (variants * variants);
      }
    }
  }
  return Ratings(std::move(elo), std::move(covariance));
}

}  // namespace tara::eval
