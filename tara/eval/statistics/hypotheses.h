#ifndef TARA_EVAL_STATISTICS_HYPOTHESES_H_
#define TARA_EVAL_STATISTICS_HYPOTHESES_H_

// Tests of single hypotheses and of many at once.

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace tara::eval {

// Returns the regularized incomplete beta function I_x(a, b): the probability
// that a variable of the beta distribution is at most x. The tails of the
// binomial and of Student's distribution are values of it. Computed by its
// continued fraction, in at most about sqrt(max(a, b)) steps.
// Source: NIST Digital Library of Mathematical Functions, 8.17.22.
// REQUIRES: a, b > 0.
double IncompleteBeta(double a, double b, double x);

// Returns the x in [0, 1] at which I_x(a, b) is p, by bisection.
// REQUIRES: as IncompleteBeta.
double BetaQuantile(double a, double b, double p);

// Returns the two-sided p-value of a normal deviate: P(|Z| >= |z|).
double NormalTwoSided(double z);

// Returns the two-sided p-value P(|T| >= |t|) of Student's distribution.
// REQUIRES: degrees > 0.
double StudentTwoSided(double t, double degrees);

// Returns the t at which StudentTwoSided is 0.05. REQUIRES: degrees > 0.
double StudentQuantile95(double degrees);

// Returns p-values adjusted for the number of tests: the probability of
// rejecting any true hypothesis at 0.05 is at most 0.05 for any dependence
// between the tests. With p in increasing order, the i-th of m (from 0) becomes
//   max over j <= i of min(1, (m - j) p_j).
// Source: Holm 1979, "A simple sequentially rejective multiple test
// procedure", Scandinavian Journal of Statistics 6.
std::vector<double> HolmAdjusted(absl::Span<const double> p_values);

}  // namespace tara::eval

#endif  // TARA_EVAL_STATISTICS_HYPOTHESES_H_
