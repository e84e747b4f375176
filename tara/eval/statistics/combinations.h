#ifndef TARA_EVAL_STATISTICS_COMBINATIONS_H_
#define TARA_EVAL_STATISTICS_COMBINATIONS_H_

// Intervals of functions of several estimates, and of means of bounded values.

#include "absl/types/span.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {

// Returns sum_i a_i e_i of independent estimates e_i with intervals [l_i, u_i],
// with the interval
//   sum - sqrt(sum_i d_i^2),  d_i = a_i (e_i - l_i) if a_i > 0, else
//                                   a_i (e_i - u_i)
// and alike above ("method of variance estimates recovery"). It has the
// coverage of the intervals that it is made of, also near the bounds of shares;
// estimates that are correlated positively make differences conservative.
// Source: Zou and Donner 2008, "Construction of confidence limits about effect
// measures: a general approach", Statistics in Medicine 27.
// REQUIRES: one coefficient per estimate.
Interval LinearCombination(absl::Span<const double> coefficients,
                           absl::Span<const Interval> estimates);

// Returns second - first.
Interval Difference(const Interval& first, const Interval& second);

// Returns the change of an estimate per unit of x: the slope of the least
// squares line through the estimates. REQUIRES: two different x at least.
Interval SlopeOf(absl::Span<const double> x,
                 absl::Span<const Interval> estimates);

// Returns the two-sided p-value of an estimate being `null`, from the normal
// distribution whose 95 % interval has the end on the side of `null`: below
// 0.05 if the interval excludes it.
double PValueOf(const Interval& estimate, double null = 0);

// Returns the mean of whole numbers within [-bound, bound] with the interval of
// ScoreInterval, scaled. `bound` is the largest size of a value, and 1 more if
// all are the same, which have an interval too. No value: infinite.
Interval BoundedMeanInterval(absl::Span<const double> values,
                             Clusters clusters = {});

}  // namespace tara::eval

#endif  // TARA_EVAL_STATISTICS_COMBINATIONS_H_
