#ifndef TARA_EVAL_BALANCE_LADDER_H_
#define TARA_EVAL_BALANCE_LADDER_H_

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {

// A game whose players knew a compensation: one step of a ladder.
struct LadderGame {
  double points = 0;  // for the second side; negative: for the first
  double score = 0;   // of the first side
  int cluster = 0;    // of its opening: games of one are not independent
};

// The first side's score by the points.
struct LadderFit {
  struct Step {
    double points = 0;
    int games = 0;
    Interval score = {};  // of its games
    double curve = 0;
  };
  // In order of their points. The curve is the one that never rises and is
  // nearest to the scores, by squares weighted with the effective number of
  // games (pool adjacent violators).
  // Source: Barlow, Bartholomew, Bremner and Brunk 1972, "Statistical inference
  // under order restrictions".
  std::vector<Step> steps = {};
  // The points at which the curve, with straight lines between the steps, is
  // 1/2; infinite if it is above or below 1/2 at all steps. The low end is the
  // last step up to which the score of each step is shown to be above 1/2, the
  // high end the first one from which on each is shown to be below 1/2;
  // infinite where none is. As the steps are tested in turn, up to the first
  // that fails, each end errs no more often than one interval does, whatever
  // the curve. Source: Maurer, Hothorn and Lehmacher 1995, "Multiple
  // comparisons in drug clinical trials and preclinical assays: a-priori
  // ordered hypotheses".
  Interval even_points = {};

  // Returns the step at which the curve is nearest to 1/2, the one of fewer
  // points if it is as near at several.
  const Step& Nearest() const;
  // Returns the index of the first step at which the curve is below 1/2; the
  // number of steps if there is none.
  size_t FirstBelow() const;
};

// REQUIRES: at least one game.
LadderFit FitLadder(absl::Span<const LadderGame> games);

}  // namespace tara::eval

#endif  // TARA_EVAL_BALANCE_LADDER_H_
