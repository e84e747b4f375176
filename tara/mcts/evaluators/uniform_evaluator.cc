#include "tara/mcts/evaluators/uniform_evaluator.h"

#include "tara/core/legal_set.h"
#include "tara/core/rules.h"

namespace tara::mcts {

absl::Status UniformEvaluator::Evaluate(absl::Span<const State> states,
                                        absl::Span<Evaluation> results) {
  for (size_t i = 0; i < states.size(); ++i) {
    const int legal = LegalActions(states[i]).Count();
    results[i].priors.assign(legal, 1.0f / static_cast<float>(legal));
    results[i].win = results[i].loss = 0.5f;
    results[i].draw = results[i].margin = 0;
    results[i].margins.clear();
  }
  return absl::OkStatus();
}

}  // namespace tara::mcts
