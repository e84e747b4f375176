// Symmetric positions are one to a network: what lets a cache share them.

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/core/rules.h"
#include "tara/core/symmetry.h"
#include "tara/core/variant.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/evaluators/caching_evaluator.h"
#include "tara/nn/cpu/cpu_evaluator.h"
#include "tara/nn/training/trainer.h"
#include "tests/nn/nn_testing.h"

namespace tara::nn {
namespace {

// Returns the symmetries that leave the position as it is: the identity, and
// others of positions that are symmetric in themselves.
std::vector<Symmetry> SymmetriesOf(const State& state) {
  std::vector<Symmetry> symmetries;
  for (const Symmetry& symmetry : PositionSymmetries(state.variant)) {
    if (TransformState(symmetry, state) == state) {
      symmetries.push_back(symmetry);
    }
  }
  return symmetries;
}

std::vector<State> Positions() {
  std::vector<State> positions = RandomPositionsOfAllVariants(3, 5);
  for (const VariantInfo& info : kVariants) {
    positions.push_back(InitialState(info.variant, {}));
  }
  return positions;
}

std::vector<float> Permuted(const Symmetry& symmetry, const State& state,
                            std::vector<float> priors) {
  mcts::PermutePriors(symmetry, state, priors);
  return priors;
}

class SymmetricAnswersTest : public ::testing::Test {
 protected:
  // Returns the evaluation of the image, with the priors in the order of the
  // state's actions.
  mcts::Evaluation OfImage(const Symmetry& symmetry, const State& state) {
    mcts::Evaluation image =
        EvaluationsBy(*network_, {TransformState(symmetry, state)})[0];
    mcts::PermutePriors(symmetry, state, image.priors);
    return image;
  }

  const std::unique_ptr<mcts::Evaluator> network_ =
      NewCpuEvaluator(NewCheckpoint({.channels = 8, .blocks = 2}, 1).value())
          .value();
};

// What is symmetric in itself is led to its representative in several ways, and
// each image may take another: it has the same priors, but those of an action
// and of one that a symmetry of the position takes it to may change places.
TEST_F(SymmetricAnswersTest, DifferInTheOrderOfPriorsAlone) {
  int symmetric = 0;  // positions
  int others = 0;     // images of the others
  int exchanged = 0;  // images in which priors change places
  for (const State& state : Positions()) {
    const mcts::Evaluation expected = EvaluationsBy(*network_, {state})[0];
    std::vector<std::vector<float>> priors;
    for (const Symmetry& symmetry : SymmetriesOf(state)) {
      priors.push_back(Permuted(symmetry, state, expected.priors));
    }
    symmetric += priors.size() > 1;
    for (const Symmetry& symmetry : PositionSymmetries(state.variant)) {
      mcts::Evaluation image = OfImage(symmetry, state);
      others += priors.size() == 1;
      exchanged += image.priors != expected.priors;
      EXPECT_THAT(priors, ::testing::Contains(image.priors));
      image.priors = expected.priors;
      ExpectEqual({image}, {expected});
    }
  }
  EXPECT_GE(symmetric, 10);  // beginnings of games
  EXPECT_GE(others, 100);
  EXPECT_GT(exchanged, 0);
}

TEST_F(SymmetricAnswersTest, AreTheSameFromACacheThatSharesThem) {
  std::vector<State> states;
  for (const State& state : RandomPositionsOfAllVariants(3, 6)) {
    for (const Symmetry& symmetry : PositionSymmetries(state.variant)) {
      states.push_back(TransformState(symmetry, state));
    }
  }
  const std::vector<mcts::Evaluation> expected =
      EvaluationsBy(*network_, states);
  mcts::CachingEvaluator cache(network_.get(),
                               {.positions = 1 << 14, .symmetric = true});
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 0; i < states.size(); i += 7) {
      ExpectEqual(
          EvaluationsBy(cache, absl::MakeConstSpan(states).subspan(i, 7)),
          absl::MakeConstSpan(expected).subspan(i, 7));
    }
  }
  EXPECT_GT(cache.hits(), cache.requests() / 2);
}

}  // namespace
}  // namespace tara::nn
