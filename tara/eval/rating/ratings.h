#ifndef TARA_EVAL_RATING_RATINGS_H_
#define TARA_EVAL_RATING_RATINGS_H_

// Ratings of players from games against each other, with their uncertainty.
//
// The model is Davidson's (davidson.h).

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tara/eval/rating/davidson.h"

namespace tara::eval {

// Games of two players in which the same one begins.
struct SeatResults {
  int first = 0;     // index of the player who begins (in doubles, Red)
  int second = 0;    // index of the other
  int64_t wins = 0;  // of `first`; so are the others
  int64_t draws = 0;
  int64_t losses = 0;
};

// A player with a fixed rating.
struct RatingAnchor {
  int player = 0;
  double elo = 0;
};

struct RatingOptions {
  // Without anchors, ratings have a mean of 0.
  std::vector<RatingAnchor> anchors = {};
  // Standard deviation of a Gaussian prior of each rating about the mean of
  // all, in Elo. It keeps the rating of a player finite that has won, or lost,
  // every game, and has less weight than a game.
  double prior_elo = 1000;
  // Whether to rate players that no chain of games connects, by the prior
  // only. Such ratings serve to choose games, not to report.
  bool allow_parts = false;
};

// Ratings of players. A value.
class Ratings {
 public:
  Ratings() = default;
  // `covariance` is [players, players], row by row, in Elo^2.
  // REQUIRES: sizes agree.
  Ratings(std::vector<double> elo, std::vector<double> covariance);

  int size() const { return static_cast<int>(elo_.size()); }
  // The rating relative to the anchors, or to the mean of all players.
  RatingEstimate Of(int player) const;
  // The rating of one player minus that of another, with the deviation of this
  // difference, which takes the covariance into account.
  RatingEstimate Difference(int player, int other) const;
  double Covariance(int player, int other) const;

  // The advantage of beginning (h), and the draws: nu, whose deviation is that
  // of ln(nu). For means over variants: 0.
  RatingEstimate first_seat;
  double draw_nu = 0;

 private:
  std::vector<double> elo_;
  std::vector<double> covariance_;
};

// Returns the ratings of the named players: the most likely ones under the
// model and the prior, with the inverse of minus the Hessian as their
// covariance. Newton's method, O(players^3) per step, some ten steps; the
// likelihood is concave, so the result is the maximum. Returns
// FAILED_PRECONDITION, naming the parts, if the players form parts that have no
// games with each other; INVALID_ARGUMENT for results or anchors of unknown
// players, or of a player against itself.
absl::StatusOr<Ratings> FitRatings(absl::Span<const std::string> players,
                                   absl::Span<const SeatResults> results,
                                   const RatingOptions& options = {});

// Returns the means over variants of the ratings of the same players. Each
// variant has the same weight, and games of different variants are independent.
// REQUIRES: at least one, all of one size.
Ratings MeanRatings(absl::Span<const Ratings> ratings);

}  // namespace tara::eval

#endif  // TARA_EVAL_RATING_RATINGS_H_
