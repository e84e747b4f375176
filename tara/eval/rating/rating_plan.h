#ifndef TARA_EVAL_RATING_RATING_PLAN_H_
#define TARA_EVAL_RATING_RATING_PLAN_H_

#include <vector>

#include "tara/eval/rating/ratings.h"

namespace tara::eval {

// A pair of games worth playing.
struct PairChoice {
  int player = 0;
  int other = 0;
  // By how much the pair is expected to lower the mean variance of the
  // differences of two players, in Elo^2.
  double gain = 0;
};

// Returns all pairs of players by what a pair of games of them, once with
// either beginning, is expected to tell: the most first, ties by index. A game
// informs about d by  ((P_win + P_loss) - (P_win - P_loss)^2) / 4;  the sum I
// of both lowers the trace of the covariance C of the ratings about their mean
// by
//   I |C u|^2 / (1 + I u' C u)  (Sherman and Morrison 1950)
// with u 1 for the one and -1 for the other; the mean variance of a difference
// is 2 / (players - 1) of that trace (A-optimality; what the games tell of h
// and nu is left out).
std::vector<PairChoice> RankPairs(const Ratings& ratings);

// Returns the pairs of games to play next, `count` of them, some perhaps more
// than once: each is the one that tells the most once those before are played
// (with the covariance that they are expected to leave).
std::vector<PairChoice> ChoosePairs(const Ratings& ratings, int count);

}  // namespace tara::eval

#endif  // TARA_EVAL_RATING_RATING_PLAN_H_
