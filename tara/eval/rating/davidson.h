#ifndef TARA_EVAL_RATING_DAVIDSON_H_
#define TARA_EVAL_RATING_DAVIDSON_H_

// The model of ratings, and the rating of one player against rated opponents.
//
// The model is Davidson's: of a game between i, who begins, and j, with
//   d = theta_i - theta_j + h
// the chances of win, draw and loss of i are
//   e^(d/2) / Z,  nu / Z,  e^(-d/2) / Z,  Z = e^(d/2) + nu + e^(-d/2).
// theta is a player's strength, h what beginning is worth, nu how often games
// are drawn. In Elo, theta and h are times 400 / ln 10; without draws, a
// difference has the usual meaning, score = 1 / (1 + 10^(-d/400)), and with
// draws it is the odds of a win to a loss that are 10^(d/400).
// Sources: Bradley and Terry 1952 (Biometrika 39); Davidson 1970, "On extending
// the Bradley-Terry model to accommodate ties" (JASA 65); Davidson and Beaver
// 1977, "On extending the Bradley-Terry model to incorporate within-pair order
// effects" (Biometrics 33).

#include "absl/types/span.h"

namespace tara::eval {

inline constexpr double kEloPerNat = 173.71779276130073;  // 400 / ln 10
// ln(nu) where no game was drawn: the likeliest nu is 0.
inline constexpr double kNoDraws = -50;

// An estimate with its standard deviation.
struct RatingEstimate {
  double elo = 0;
  double deviation = 0;
};

// Chances of win, draw and loss of who begins, for d and ln(nu) as above.
struct DavidsonChances {
  double win;
  double draw;
  double loss;
};
DavidsonChances ChancesOf(double d, double log_nu);

// Returns what such a game tells of d: the variance of the derivative of its
// log-likelihood,  ((P_win + P_loss) - (P_win - P_loss)^2) / 4.
double InformationOf(const DavidsonChances& chances);

// A game of the player to be rated.
struct RatedResult {
  RatingEstimate opponent;
  bool began = false;  // the player to be rated
  double score = 0;    // 1 won, 0.5 drawn, 0 lost
};

// Returns the rating of a player by games with opponents whose ratings are
// known: the likeliest under the model, with `first_seat` (h, in Elo), and the
// prior of FitRatings for the player and `others`, players with these ratings.
// Draws count as half a win and half a loss, the limit of the model where they
// are rare. The deviation has in it how far the opponents' ratings may be off,
// all to the same side. No games: the prior's.
// REQUIRES: `others` is not empty.
RatingEstimate RateByResults(absl::Span<const RatedResult> results,
                             absl::Span<const double> others, double first_seat,
                             double prior_elo = 1000);

}  // namespace tara::eval

#endif  // TARA_EVAL_RATING_DAVIDSON_H_
