#ifndef TARA_EVAL_BALANCE_LADDER_H_
#define TARA_EVAL_BALANCE_LADDER_H_

#include "absl/types/span.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {

// A game whose players knew a compensation: one step of a ladder.
struct LadderGame {
  double points = 0;  // for the second side; negative: for the first
  double score = 0;   // of the first side
  int cluster = 0;    // of its opening: games of one are not independent
};

// The logistic curve of the first side's score s(c) by the points c,
//   logit s(c) = a - b c,
// at the maximum of the likelihood, a draw being half a win and half a loss,
// with a quarter of a win and of a loss added at each step of the ladder, so
// that a and b are finite.
struct LadderFit {
  double a = 0;
  double b = 0;
  // The points a / b at which the curve is even, with the interval of Fieller:
  // all c for which (a - b c)^2 is within t^2 times its variance. The variance
  // is that of sums over clusters (the "sandwich"), which holds whether or not
  // the curve is logistic. Infinite where the score is not shown to fall.
  // Sources: Fieller 1954, "Some problems in interval estimation", JRSS B 16;
  // Liang and Zeger 1986, "Longitudinal data analysis using generalized linear
  // models", Biometrika 73.
  Interval even_points = {};

  double ScoreAt(double points) const;
};

// REQUIRES: games of at least two different compensations; clusters are
// numbered from 0.
LadderFit FitLadder(absl::Span<const LadderGame> games);

}  // namespace tara::eval

#endif  // TARA_EVAL_BALANCE_LADDER_H_
