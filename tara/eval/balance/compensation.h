#ifndef TARA_EVAL_BALANCE_COMPENSATION_H_
#define TARA_EVAL_BALANCE_COMPENSATION_H_

// What would make up for starting: points for the second side, or the right to
// choose a side.

#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {

// Returns the points c that make P(margin > c) = P(margin < c): the median of
// the margins, interpolated between those that occur by the mid-distribution
//   F(m) = P(M < m) + P(M = m) / 2,   F(c) = 1/2,
// so that a few games more or less do not move it by whole points.
// Source: Ma, Genton and Parzen 2011, "Asymptotic properties of sample
// quantiles of discrete distributions", Annals of the Institute of Statistical
// Mathematics 63. REQUIRES: not empty.
double FairPoints(absl::Span<const int> margins);

// Points for the second side, with which the games as they were played would
// have been even. With them in the rules, players would play for other margins.
struct Compensation {
  Interval points = {};  // FairPoints, by bootstrap over games
  // The multiple of one half that comes nearest to even, and the first side's
  // score with it. Of several, the one next to 0.
  double practical = 0;
  Interval score = {};
  double draws = 0;  // share of games that would be drawn then
};
// REQUIRES: not empty; clusters are numbered from 0 on without gaps.
Compensation FairCompensation(absl::Span<const int> margins, Random& random,
                              Clusters clusters = {});

// One class of first actions, told by its first member, with the first side's
// scores (1, 1/2, 0) of games that begin so.
struct FirstActionGames {
  Action action;
  int size = 1;  // actions of the class
  std::vector<double> scores = {};
};

// How evenly first actions leave the game, as far as the games tell it from
// chance: the values v_k of K classes are taken for normal around a common
// mean, and shrunk towards it by what the games of the class leave open,
//   v_k ~ N(m + t^2 / (t^2 + s_k^2) * (x_k - m), t^2 s_k^2 / (t^2 + s_k^2)),
// x_k the mean score of n_k games, s_k^2 = (pooled variance of a game) / n_k,
// t^2 = max(0, variance of the x_k - mean of the s_k^2).
// Source: Efron and Morris 1975, "Data analysis using Stein's estimator and its
// generalizations", JASA 70.
struct FirstActionSpread {
  std::vector<double> shrunk = {};  // by class: the mean of v_k
  // Standard deviation t of the classes' values.
  double deviation = 0;
  // Expected share of the first actions with |v - 1/2| <= band, with its
  // interval by bootstrap over the games of each class.
  Interval within_band = {};
  // The class whose shrunk value is nearest to 1/2.
  int fairest = 0;
};
// REQUIRES: not empty; each class has games; band > 0.
FirstActionSpread SpreadOfFirstActions(
    absl::Span<const FirstActionGames> classes, double band, Random& random);

// Returns what the player who chooses a side scores after an opening with this
// value for the first side: max(v, 1 - v).
Interval ChoosersScore(const Interval& first_side_score);

}  // namespace tara::eval

#endif  // TARA_EVAL_BALANCE_COMPENSATION_H_
