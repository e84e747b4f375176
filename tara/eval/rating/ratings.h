#ifndef TARA_EVAL_RATING_RATINGS_H_
#define TARA_EVAL_RATING_RATINGS_H_

// Ratings of players from the games they played each other, with what is known
// of how far they are off.
//
// The model is Davidson's (davidson.h).

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tara/eval/rating/davidson.h"

namespace tara::eval {

// Games of two players with the same one beginning.
struct SeatResults {
  int first = 0;     // index of the player who begins (in doubles, Red)
  int second = 0;    // index of the other
  int64_t wins = 0;  // of `first`; so are the others
  int64_t draws = 0;
  int64_t losses = 0;
};

// A player whose rating is given.
struct RatingAnchor {
  int player = 0;
  double elo = 0;
};

struct RatingOptions {
  // Players without any have ratings about a mean of 0.
  std::vector<RatingAnchor> anchors = {};
  // Deviation of a Gaussian prior of each rating about the mean of all, in Elo:
  // it keeps the rating of who has won, or lost, every game finite, and is
  // worth less than a game.
  double prior_elo = 1000;
  // Whether players that no chain of games joins are rated all the same, by the
  // prior alone: for choosing what to play, not for telling.
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
  // The rating against the anchors, or the mean of all players.
  RatingEstimate Of(int player) const;
  // The rating of one player minus that of another, with the deviation of that
  // (ratings depend on each other: theirs do not just add up).
  RatingEstimate Difference(int player, int other) const;
  double Covariance(int player, int other) const;

  // What beginning is worth (h), and the draws: nu, of which the deviation is
  // that of ln(nu). Of means over variants: 0.
  RatingEstimate first_seat;
  double draw_nu = 0;

 private:
  std::vector<double> elo_;
  std::vector<double> covariance_;
};

// Returns the ratings of the players named: the likeliest under the model and
// the prior, with the inverse of minus the Hessian as their covariance.
// Newton's method, O(players^3) a step, some ten steps: the likelihood is
// concave, so that what it finds is the maximum.
// Returns FAILED_PRECONDITION, naming the parts, if the players fall into parts
// that have no game with each other; INVALID_ARGUMENT for results or anchors of
// players there are not, or of a player against itself.
absl::StatusOr<Ratings> FitRatings(absl::Span<const std::string> players,
                                   absl::Span<const SeatResults> results,
                                   const RatingOptions& options = {});

// Returns the means over variants of the ratings of the same players, each
// variant with the same weight; games of different variants are independent.
// REQUIRES: at least one, all of one size.
Ratings MeanRatings(absl::Span<const Ratings> ratings);

}  // namespace tara::eval

#endif  // TARA_EVAL_RATING_RATINGS_H_
