#ifndef TARA_EVAL_STATISTICS_RESAMPLING_H_
#define TARA_EVAL_STATISTICS_RESAMPLING_H_

// Intervals of statistics that have no formula for one.

#include <functional>
#include <vector>

#include "absl/types/span.h"
#include "tara/base/random.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {

// Returns the quantile of sorted values by linear interpolation between order
// statistics: with h = p (n - 1), x[floor h] + (h - floor h) * (the step to
// the next). Source: Hyndman and Fan 1996, "Sample quantiles in statistical
// packages", The American Statistician 50, definition 7 (the default of R).
// REQUIRES: not empty, increasing; 0 <= p <= 1.
double Quantile(absl::Span<const double> sorted, double p);

// A statistic of a sample, told by the indices of those that are in it, with
// repetitions.
using IndexStatistic = std::function<double(absl::Span<const int> indices)>;

// Returns the statistic of `replicates` samples of `size` indices each, drawn
// uniformly with replacement from 0 ... size - 1. What an index stands for is
// the caller's: a game, or a whole cluster of dependent games (both games of a
// pair), which is then drawn as one.
// Source: Efron 1979, "Bootstrap methods: another look at the jackknife",
// Annals of Statistics 7. O(size * replicates) beside the statistic.
// REQUIRES: size > 0; replicates > 0.
std::vector<double> BootstrapReplicates(int size, int replicates,
                                        const IndexStatistic& statistic,
                                        Random& random);

// Returns the statistic of the sample itself, with the 2.5 % and the 97.5 %
// quantile of its bootstrap replicates for an interval. It is too narrow for
// few observations (some 20 and fewer). REQUIRES: as BootstrapReplicates.
Interval BootstrapInterval(int size, int replicates,
                           const IndexStatistic& statistic, Random& random);

}  // namespace tara::eval

#endif  // TARA_EVAL_STATISTICS_RESAMPLING_H_
