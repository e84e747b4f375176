#ifndef TESTS_NN_NN_TESTING_H_
#define TESTS_NN_NN_TESTING_H_

// Positions, and what networks say of them.

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/mcts/evaluator.h"
#include "tara/nn/training/trainer.h"
#include "tests/status_matchers.h"

namespace tara::nn {

// Returns `count` positions of the variant with a seat to move, from games
// played at random from `seed`.
std::vector<State> RandomPositions(Variant variant, int count, uint64_t seed);

// Returns `count` positions of each variant, one variant after the other.
std::vector<State> RandomPositionsOfAllVariants(int count, uint64_t seed);

// Returns samples of random positions of each variant, with random targets for
// every head.
std::vector<Sample> MakeSamples(int per_variant, uint64_t seed);

// `evaluator`: an Evaluator or a Trainer.
template <typename Evaluates>
std::vector<mcts::Evaluation> EvaluationsBy(Evaluates& evaluator,
                                            absl::Span<const State> states) {
  std::vector<mcts::Evaluation> results(states.size());
  EXPECT_THAT(evaluator.Evaluate(states, absl::MakeSpan(results)), IsOk());
  return results;
}

// Expects probabilities that differ by at most the tolerance, and expected
// margins by ten times it.
void ExpectNear(absl::Span<const mcts::Evaluation> results,
                absl::Span<const mcts::Evaluation> expected, float tolerance);

// Expects the same numbers.
inline void ExpectEqual(absl::Span<const mcts::Evaluation> results,
                        absl::Span<const mcts::Evaluation> expected) {
  ExpectNear(results, expected, 0);
}

}  // namespace tara::nn

#endif  // TESTS_NN_NN_TESTING_H_
