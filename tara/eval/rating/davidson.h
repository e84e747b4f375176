#ifndef TARA_EVAL_RATING_DAVIDSON_H_
#define TARA_EVAL_RATING_DAVIDSON_H_

// The model of ratings, and the rating of one player against rated opponents.
//
// The model is Davidson's: in a game between i, who begins, and j, with
//   d = theta_i - theta_j + h
// the probabilities of a win, draw and loss of i are
//   e^(d/2) / Z,  nu / Z,  e^(-d/2) / Z,  Z = e^(d/2) + nu + e^(-d/2).
// theta is a player's strength, h the advantage of beginning, and nu the
// frequency of draws. In Elo, theta and h are multiplied by 400 / ln 10.
// Without draws, a difference has the usual meaning, score = 1 / (1 +
// 10^(-d/400)); with draws, 10^(d/400) is the ratio of wins to losses.
// Sources: Bradley and Terry 1952 (Biometrika 39); Davidson 1970, "On extending
// the Bradley-Terry model to accommodate ties" (JASA 65); Davidson and Beaver
// 1977, "On extending the Bradley-Terry model to incorporate within-pair order
// effects" (Biometrics 33).

#include "absl/types/span.h"

namespace tara::eval {

inline constexpr double kEloPerNat = 173.71779276130073;  // 400 / ln 10
// ln(nu) without drawn games, where the most likely nu is 0.
inline constexpr double kNoDraws = -50;

// An estimate with its standard deviation.
struct RatingEstimate {
  double elo = 0;
  double deviation = 0;
};

// Probabilities of a win, draw and loss of the player who begins.
struct DavidsonChances {
  double win;
  double draw;
  double loss;
};
DavidsonChances OutcomeProbabilities(double d, double log_nu);

// Returns the information of such a game about d, the variance of the
// derivative of its log-likelihood: ((P_win + P_loss) - (P_win - P_loss)^2)
// / 4.
double FisherInformation(const DavidsonChances& chances);

// A game of the player to be rated.
struct RatedResult {
  RatingEstimate opponent;
  bool began = false;  // the player to be rated
  double score = 0;    // 1 won, 0.5 drawn, 0 lost
};

// Returns the rating of a player from games with opponents of known ratings:
// the most likely one under the model, with `first_seat` (h, in Elo), and the
// prior of FitRatings for the player and `others`, players with these ratings.
// A draw counts as half a win and half a loss, which is the limit of the model
// for rare draws. The deviation includes the error of the opponents' ratings,
// all in the same direction. Without games: the prior's. REQUIRES: `others` is
// not empty.
RatingEstimate RateByResults(absl::Span<const RatedResult> results,
                             absl::Span<const double> others, double first_seat,
                             double prior_elo = 1000);

}  // namespace tara::eval

#endif  // TARA_EVAL_RATING_DAVIDSON_H_
