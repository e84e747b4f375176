#ifndef TARA_MCTS_EVALUATORS_SIMPLE_EVALUATORS_H_
#define TARA_MCTS_EVALUATORS_SIMPLE_EVALUATORS_H_

#include <cstdint>

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

// Judges a position by its hash: priors and values that are all different, and
// that no change elsewhere moves. For checks of the search. Never fails.
class HashEvaluator : public Evaluator {
 public:
  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<Evaluation> results) override;
};

// Evaluates a position by random games to the end, with all legal actions
// equally likely. The games' seeds derive from the position and the seed, so a
// position has the same result in any batch, on any thread and any processor.
// Large batches are cheaper per game, because all games of a batch are played
// in lockstep. Thread-safe; never fails.
class PlayoutEvaluator : public Evaluator {
 public:
  // REQUIRES: playouts > 0 (random games per position).
  PlayoutEvaluator(int playouts, uint64_t seed);

  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<Evaluation> results) override;

 private:
  const int playouts_;
  const uint64_t seed_;
};

}  // namespace tara::mcts

#endif  // TARA_MCTS_EVALUATORS_SIMPLE_EVALUATORS_H_
