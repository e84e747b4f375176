#ifndef TARA_EVAL_STATISTICS_STATISTICS_H_
#define TARA_EVAL_STATISTICS_STATISTICS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tara/base/random.h"

namespace tara::eval {

// Two-sided 95 % quantile of the standard normal distribution.
inline constexpr double kNormalQuantile95 = 1.959963984540054;

// An estimate with its 95 % confidence interval.
struct Interval {
  double mean = 0;
  double low = 0;
  double high = 0;
};

// Fewer different games than this, up to symmetry, are no ground for a verdict.
inline constexpr int kMinGamesForVerdict = 20;

// The cluster of each value. Values of one cluster are dependent or repeated;
// values of different clusters are independent. Empty: each value is a cluster.
using Clusters = absl::Span<const int>;

// Returns one cluster per key; each value with key 0 is a cluster.
std::vector<int> MakeClusters(absl::Span<const uint64_t> keys);

// Returns the number of clusters, from the largest index.
int DifferentIn(Clusters clusters);

// Returns the effective number of independent values for a mean,
//   n^2 / sum_k n_k^2  with n_k values in cluster k:
// for clusters of equal size their number, without clusters that of the values.
// Source: Kish 1965, "Survey sampling", section 8.2.
double EffectiveCount(size_t values, Clusters clusters);

// Returns the mean of values with Student's interval
//   mean +- t * sqrt(s^2 / n),  s^2 = sum_k w_k (x_k - mean)^2 / (n - 1)
// with t of n - 1 degrees of freedom, where n is the EffectiveCount, x_k the
// mean of cluster k and w_k its share of n; infinite for fewer than two values,
// and for fewer than kMinEqualValues equal ones. Without values the mean is 0.
// Source: Student 1908, "The probable error of a mean", Biometrika 6.
Interval MeanInterval(absl::Span<const double> values, Clusters clusters = {});

// The number of equal values that shows that values hardly vary.
inline constexpr int kMinEqualValues = 20;

// Returns the Wilson score interval of a proportion observed over n trials,
// with z = 1.96:
//   (p + z^2 / 2n +- z * sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n)
// Unlike the normal interval it does not collapse if p is 0 or 1.
// Source: Wilson 1927, "Probable inference, the law of succession, and
// statistical inference", JASA 22. REQUIRES: 0 <= p <= 1; trials > 0.
Interval WilsonInterval(double proportion, double trials);

// Returns the Clopper-Pearson interval of a proportion p observed over n
// trials: at its ends, p n successes or more (or p n or fewer) have a
// probability of 2.5 %, by quantiles of the beta distribution, so that n and
// p n need not be whole numbers. Each end misses with at most 2.5 %.
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

// Returns the sums of the scores of games: 1 won, 1/2 drawn, 0 lost.
ScoreSums SumsOfGames(double games, double wins, double draws);

// Returns the mean of n independent scores in [0, 1] (for example of pairs of
// games) with the Clopper-Pearson interval at their effective number of trials:
// the number of wins and losses whose share varies as much as the mean,
//   n* = n / d,  d = v / (m (1 - m)),
// with mean m and variance v of the scores and two additional ones, 0 and 1, so
// that scores that do not vary have an interval, too. d is 1 for scores of 0
// and 1, 1/2 for means of two independent games, and near 0 for scores that are
// always 1/2. Without scores: [0, 1].
//
// Coverage is at least 95 %, and each end misses with at most 3.5 %, for 20 to
// 400 pairs of games, independent or not, with or without draws. If (nearly)
// every pair is divided or won, one end may miss with 6 %.
// Source: Korn and Graubard 1998, "Confidence intervals for proportions with
// small expected number of positive counts estimated from survey data", Survey
// Methodology 24; the two additional scores as in Agresti and Coull 1998,
// "Approximate is better than 'exact' for interval estimation of binomial
// proportions", The American Statistician 52.
Interval ScoreIntervalOf(const ScoreSums& sums);
Interval ScoreInterval(absl::Span<const double> scores, Clusters clusters = {});

// Returns the two-sided p-value of a mean score of 1/2, by the same method:
// twice the smaller tail of n* trials. It is below 0.05 if and only if the
// interval does not contain 1/2. 1 without scores.
double EvenScoreTest(absl::Span<const double> scores, Clusters clusters = {});

// Sums over games of a numerator x and a denominator y, such as actions.
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
// first order,  sum (x - R y)^2 / (N (N - 1) mean(y)^2)  over N games, because
// the parts of one game are not independent; infinite for one game.
// Source: Cochran 1977, "Sampling techniques", section 2.11.
// REQUIRES: sums.y > 0.
Interval RatioInterval(const RatioSums& sums);

// Returns the difference in Elo rating at which the expected score is
// `score`:  400 * log10(score / (1 - score)); infinite at 0 and 1.
// Source: Elo 1978, "The rating of chessplayers", in logistic form.
// REQUIRES: 0 <= score <= 1.
double EloDifference(double score);
Interval EloOf(const Interval& score);

// Returns the entropy, in nats, of the distribution of independent observations
// from the counts of each kind: the jackknifed estimate
//   N H - (N - 1) / N * sum_i n_i H_{-i}
// with the interval +- 1.96 s,
//   s^2 = (N - 1) / N * sum_i n_i (H_{-i} - mean of all H_{-i})^2,
// where H = - sum (n_i / N) ln (n_i / N) is the entropy of the N observations
// and H_{-i} without one of kind i. H itself is too low by about (kinds - 1) /
// 2N. If nearly all observations differ, this estimate is too low, and no
// estimate is good. The low end is at least 0. For fewer than two observations,
// or fewer than kMinEqualValues that all differ or are all of one kind: 0 to
// infinity. Source: Zahl 1977, "Jackknifing an index of diversity", Ecology 58.
// REQUIRES: all counts > 0.
Interval EntropyOfCounts(absl::Span<const int64_t> counts);

// Returns exp of an interval of entropies: the number of equally likely choices
// with the same entropy (Hill 1973, "Diversity and evenness", Ecology 54).
Interval EquivalentChoices(const Interval& entropy);

// A statistic of a sample, which is given by its indices, with repetitions.
using IndexStatistic = std::function<double(absl::Span<const int> indices)>;

// Returns the statistic of the sample 0 ... size - 1 itself, with the 2.5 % and
// the 97.5 % quantile over `replicates` samples of that size, drawn uniformly
// with replacement, as an interval, which is too narrow for some 20 or fewer
// observations. An index stands for a game or for a whole cluster of dependent
// games, drawn as one. Quantiles are interpolated between order statistics.
// Source: Efron 1979, "Bootstrap methods: another look at the jackknife",
// Annals of Statistics 7; Hyndman and Fan 1996, "Sample quantiles in
// statistical packages", The American Statistician 50, definition 7.
// O(size * replicates) plus the statistic. REQUIRES: size > 0; replicates > 0.
Interval BootstrapInterval(int size, int replicates,
                           const IndexStatistic& statistic, Random& random);

// Returns the regularized incomplete beta function I_x(a, b), the distribution
// function of the beta distribution, by its continued fraction, in at most
// about sqrt(max(a, b)) steps. Source: NIST Digital Library of Mathematical
// Functions, 8.17.22. REQUIRES: a, b > 0.
double IncompleteBeta(double a, double b, double x);

// Returns the x in [0, 1] at which I_x(a, b) is p, by bisection.
// REQUIRES: as IncompleteBeta.
double BetaQuantile(double a, double b, double p);

// Returns the t that Student's distribution exceeds, by size, with a
// probability of 0.05. REQUIRES: degrees > 0.
double StudentQuantile95(double degrees);

// Returns p-values adjusted for the number of tests, dependent or not: any true
// hypothesis is rejected at 0.05 with a probability of at most 0.05. With p in
// increasing order, the i-th of m (from 0) becomes
//   max over j <= i of min(1, (m - j) p_j).
// Source: Holm 1979, "A simple sequentially rejective multiple test
// procedure", Scandinavian Journal of Statistics 6.
std::vector<double> HolmAdjusted(absl::Span<const double> p_values);

// Returns sum_i a_i e_i of independent estimates e_i with intervals [l_i, u_i],
// with the interval
//   sum - sqrt(sum_i d_i^2),  d_i = a_i (e_i - l_i) if a_i > 0, else
//                                   a_i (e_i - u_i)
// and alike above. It has the coverage of the intervals that it is made of,
// also near the bounds of shares; positive correlation makes differences
// conservative.
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
  // last step up to which each score is shown to be above 1/2, the high end the
  // first one from which on each is shown to be below it; infinite where none
  // is. As steps are tested in turn, up to the first that fails, each end errs
  // no more often than one interval does. Source: Maurer, Hothorn and Lehmacher
  // 1995, "Multiple comparisons in drug clinical trials and preclinical assays:
  // a-priori ordered hypotheses".
  Interval even_points = {};

  // Returns the step at which the curve is nearest to 1/2, the one of fewer
  // points if it is as near at several.
  const Step& Nearest() const;
};

// REQUIRES: at least one game.
LadderFit FitLadder(absl::Span<const LadderGame> games);

// A sequential test, which ends a match as soon as it has decided between H0,
// the first player is stronger by elo0 (or less), and H1, by elo1 (or more). An
// expected score is 1 / (1 + 10^(-elo/400)).
struct SprtOptions {
  double elo0 = 0;
  double elo1 = 10;
  double alpha = 0.05;  // probability of accepting H1 if H0 is true
  double beta = 0.05;   // probability of accepting H0 if H1 is true
};

// Returns INVALID_ARGUMENT, naming the value, if the test is impossible:
// elo1 <= elo0, alpha or beta outside (0, 0.5), Elo beyond +-1000.
absl::Status CheckSprtOptions(const SprtOptions& options);

// Parses "elo0=0,elo1=10" with alpha= and beta= where they differ from the
// defaults. INVALID_ARGUMENT for other texts, or CheckSprtOptions' error.
absl::StatusOr<SprtOptions> ParseSprtOptions(absl::string_view text);

// Returns the text for ParseSprtOptions, with all fields.
std::string SprtOptionsText(const SprtOptions& options);

// Numbers of pairs of games by the first player's points: 0, 1/2, 1, 3/2, 2.
using PairCounts = std::array<int64_t, 5>;

// Returns the generalized log-likelihood ratio of H1 to H0, between the most
// likely distribution with elo1 and the most likely one with elo0. No pair: 0.
// Counts of 0 are replaced by 0.001, so that unseen results are possible.
// Source: Van den Bergh, "The Generalized Sequential Probability Ratio Test for
// multinomial distributions" (www.cantate.be/Fishtest/support_MLE_multinomial
// .pdf), proposition 1.1; counts as in fishtest.
// REQUIRES: valid options, counts >= 0. Pure.
double GsprtLlr(const PairCounts& counts, const SprtOptions& options);

enum class SprtDecision : uint8_t { kUndecided, kAcceptH0, kAcceptH1 };

// Returns "undecided", "H0" or "H1".
absl::string_view SprtDecisionName(SprtDecision decision);

// A test in progress. A value; not thread-safe.
class Sprt {
 public:
  // REQUIRES: valid options.
  explicit Sprt(const SprtOptions& options);

  // Adds a pair of games by the first player's half points. Pairs after the
  // decision change the ratio alone. REQUIRES: 0 <= half_points <= 4.
  void Add(int half_points);

  const SprtOptions& options() const { return options_; }
  const PairCounts& counts() const { return counts_; }
  int64_t pairs() const;
  double llr() const { return llr_; }
  // H0 is accepted at or below ln(beta / (1 - alpha)), H1 at or above
  // ln((1 - beta) / alpha). Source: Wald 1945, "Sequential tests of statistical
  // hypotheses", Annals of Mathematical Statistics 16, section 3.
  double lower_bound() const { return lower_bound_; }
  double upper_bound() const { return upper_bound_; }
  SprtDecision decision() const { return decision_; }

 private:
  SprtOptions options_;
  double lower_bound_;
  double upper_bound_;
  PairCounts counts_ = {};
  double llr_ = 0;
  SprtDecision decision_ = SprtDecision::kUndecided;
};

}  // namespace tara::eval

#endif  // TARA_EVAL_STATISTICS_STATISTICS_H_
