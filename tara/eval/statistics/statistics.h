#ifndef TARA_EVAL_STATISTICS_STATISTICS_H_
#define TARA_EVAL_STATISTICS_STATISTICS_H_

#include "absl/types/span.h"

namespace tara::eval {

// Two-sided 95 % quantile of the standard normal distribution.
inline constexpr double kNormalQuantile95 = 1.959963984540054;

// An estimate with its 95 % confidence interval.
struct Interval {
  double mean = 0;
  double low = 0;
  double high = 0;
};

// Returns the mean of independent values with Student's interval
//   mean +- t * sqrt(s^2 / n),  s^2 = sum (x - mean)^2 / (n - 1)
// with t of n - 1 degrees of freedom. Fewer than two values have an infinite
// interval; no value has mean 0.
// Source: Student 1908, "The probable error of a mean", Biometrika 6.
Interval MeanInterval(absl::Span<const double> values);

// Returns the Wilson score interval of a proportion observed over n trials,
// with z = 1.96:
//   (p + z^2 / 2n +- z * sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n)
// Unlike the normal interval it does not collapse where p is 0 or 1.
// Source: Wilson 1927, "Probable inference, the law of succession, and
// statistical inference", JASA 22. REQUIRES: 0 <= p <= 1; trials > 0.
Interval WilsonInterval(double proportion, double trials);

// Returns the interval of Clopper and Pearson of a proportion p observed over n
// trials, whose ends are the proportions of which so many successes, p n, or
// more (or so many or fewer) have a probability of 2.5 %: quantiles of the beta
// distribution, so that neither n nor p n need be whole. It covers the truth
// with 95 % at least, each end errs with 2.5 % at most.
// Source: Clopper and Pearson 1934, "The use of confidence or fiducial limits
// illustrated in the case of the binomial", Biometrika 26.
// REQUIRES: 0 <= p <= 1; trials > 0.
Interval ClopperPearsonInterval(double proportion, double trials);

// Sums over scores, which are in [0, 1].
struct ScoreSums {
  double count = 0;
  double sum = 0;
  double squares = 0;
};

// Returns the mean of n independent scores in [0, 1] (of pairs of games, say)
// with the interval of Clopper and Pearson at their effective number of
// trials: that of the wins and losses whose share varies as much as the mean,
//   n* = n / d,  d = v / (m (1 - m)),
// with mean m and variance v of the scores and one more of 0 and one more of 1,
// so that scores that do not vary, which shows little of how they could, have
// an interval, too. d is 1 for scores of 0 and 1, 1/2 for means of two
// independent games, and near 0 for scores that are always 1/2. No score:
// [0, 1].
//
// Coverage is 95 % and more, and each end misses by 3.5 % at most, for 20 to
// 400 pairs of games, independent or not, with draws or without; only where
// every pair is divided or won, one end may miss by 6 %.
// Source: Korn and Graubard 1998, "Confidence intervals for proportions with
// small expected number of positive counts estimated from survey data", Survey
// Methodology 24; the two scores more as Agresti and Coull 1998, "Approximate
// is better than 'exact' for interval estimation of binomial proportions", The
// American Statistician 52.
Interval ScoreIntervalOf(const ScoreSums& sums);
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

}  // namespace tara::eval

#endif  // TARA_EVAL_STATISTICS_STATISTICS_H_
