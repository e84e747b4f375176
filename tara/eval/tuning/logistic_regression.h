#ifndef TARA_EVAL_TUNING_LOGISTIC_REGRESSION_H_
#define TARA_EVAL_TUNING_LOGISTIC_REGRESSION_H_

#include <vector>

#include "absl/types/span.h"

namespace tara::eval {

// Observations: `inputs` holds them one after the other, `width` numbers
// each; targets are chances in [0, 1].
struct LogisticData {
  int width = 0;
  std::vector<float> inputs = {};
  std::vector<float> targets = {};
};

// Returns the weights w that minimise
//
//     sum_i loss(t_i, 1 / (1 + exp(-w . x_i))) + penalty / 2 * |w|^2
//
// with the logarithmic loss, by Newton's method.
// Source: Hastie, Tibshirani and Friedman 2009, "The Elements of Statistical
// Learning", section 4.4.1. REQUIRES: penalty > 0; width > 0.
std::vector<double> FitLogistic(const LogisticData& data, double penalty);

// Returns the mean logarithmic loss, in nats.
double LogisticLoss(const LogisticData& data, absl::Span<const double> weights);

}  // namespace tara::eval

#endif  // TARA_EVAL_TUNING_LOGISTIC_REGRESSION_H_
