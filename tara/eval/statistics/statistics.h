#ifndef TARA_EVAL_STATISTICS_STATISTICS_H_
#define TARA_EVAL_STATISTICS_STATISTICS_H_

#include "absl/types/span.h"

namespace tara {

// Two-sided 95 % quantile of the standard normal distribution.
inline constexpr double kNormalQuantile95 = 1.959963984540054;

// An estimate with its 95 % confidence interval.
struct Interval {
  double mean = 0;
  double low = 0;
  double high = 0;
};

// Returns the mean of independent values with the interval
//   mean +- 1.96 * sqrt(s^2 / n),  s^2 = sum (x - mean)^2 / (n - 1)
// (central limit theorem: for some 30 values and more). Fewer than two values
// have an infinite interval; no value has mean 0.
Interval MeanInterval(absl::Span<const double> values);

// Returns the Wilson score interval of a proportion observed over n trials,
// with z = 1.96:
//   (p + z^2 / 2n +- z * sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n)
// Unlike the normal interval it does not collapse where p is 0 or 1.
// Source: Wilson 1927, "Probable inference, the law of succession, and
// statistical inference", JASA 22. REQUIRES: 0 <= p <= 1; trials > 0.
Interval WilsonInterval(double proportion, double trials);

// Returns the mean of independent scores in [0, 1] with an interval within
// [0, 1]: that of MeanInterval, or, where the scores do not vary (which shows
// nothing of how they could), that of WilsonInterval. No score: [0, 1].
Interval ScoreInterval(absl::Span<const double> scores);

// Sums over games of numerator x and denominator y (legal actions and actions,
// say).
struct RatioSums {
  double games = 0;
  double x = 0;
  double y = 0;
  double xx = 0;
  double xy = 0;
  double yy = 0;

  void Add(double numerator, double denominator);
};

// Returns the ratio R = sum x / sum y with the normal interval of variance, to
// first order,
//   sum (x - R y)^2 / (N (N - 1) mean(y)^2)   over N games,
// as the parts of one game are not independent; infinite for a single game.
// Source: Cochran 1977, "Sampling techniques", section 2.11.
// REQUIRES: sums.y > 0.
Interval RatioInterval(const RatioSums& sums);

// Returns the difference in Elo rating at which the expected score is
// `score`:  400 * log10(score / (1 - score)); infinite at 0 and 1.
// Source: Elo 1978, "The rating of chessplayers", in logistic form.
// REQUIRES: 0 <= score <= 1.
double EloDifference(double score);

}  // namespace tara

#endif  // TARA_EVAL_STATISTICS_STATISTICS_H_
