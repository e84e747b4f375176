#ifndef TARA_MCTS_TREE_TEMPER_PRIORS_H_
#define TARA_MCTS_TREE_TEMPER_PRIORS_H_

#include "absl/types/span.h"

namespace tara::mcts {

// Fills `tempered` with priors^(1/temperature), scaled to sum to 1: above 1 the
// likely actions lose to the others, below 1 they gain. What has no chance has
// none afterwards. Source: lc0, the option PolicyTemperature.
// REQUIRES: temperature > 0; a prior is positive; the spans have one size.
void TemperPriors(absl::Span<const float> priors, float temperature,
                  absl::Span<float> tempered);

}  // namespace tara::mcts

#endif  // TARA_MCTS_TREE_TEMPER_PRIORS_H_
