#ifndef TARA_EVAL_STATISTICS_ENTROPY_H_
#define TARA_EVAL_STATISTICS_ENTROPY_H_

// How varied choices are. An entropy of H nats is as much choice as exp(H)
// equally likely possibilities: "equivalent choices" (Hill 1973, "Diversity
// and evenness", Ecology 54: the diversity number of order 1).

#include <cstdint>

#include "absl/types/span.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {

// Returns  - sum p_i ln p_i  with p_i = weight_i / sum of the weights, in nats;
// 0 if the sum is 0. REQUIRES: no weight is negative.
double Entropy(absl::Span<const double> weights);

// Returns the entropy, in nats, of what independent observations were drawn
// from, by how often each kind was seen: the jackknifed estimate
//   N H - (N - 1) / N * sum_i n_i H_{-i}
// with the interval +- 1.96 s,
//   s^2 = (N - 1) / N * sum_i n_i (H_{-i} - mean of all H_{-i})^2,
// where H is the entropy of the N observations and H_{-i} without one of kind
// i. H itself is too low by about (kinds - 1) / 2N. Of observations that nearly
// all differ, no estimate is good: this one is then too low.
// The low end is at least 0. Fewer than two observations: 0 to infinity.
// Source: Zahl 1977, "Jackknifing an index of diversity", Ecology 58.
// REQUIRES: all counts > 0.
Interval EntropyOfCounts(absl::Span<const int64_t> counts);

// Returns exp of an interval of entropies.
Interval EquivalentChoices(const Interval& entropy);

}  // namespace tara::eval

#endif  // TARA_EVAL_STATISTICS_ENTROPY_H_
