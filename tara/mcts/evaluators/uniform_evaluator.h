#ifndef TARA_MCTS_EVALUATORS_UNIFORM_EVALUATOR_H_
#define TARA_MCTS_EVALUATORS_UNIFORM_EVALUATOR_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "tara/core/state.h"
#include "tara/mcts/evaluator.h"

namespace tara::mcts {

// Knows nothing: all legal actions are equally likely, every game is even.
// The measure of what the search costs by itself. Never fails.
class UniformEvaluator : public Evaluator {
 public:
  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<Evaluation> results) override;
};

}  // namespace tara::mcts

#endif  // TARA_MCTS_EVALUATORS_UNIFORM_EVALUATOR_H_
