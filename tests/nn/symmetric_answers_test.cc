// Symmetric positions are one to a network: what lets a cache share them.

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/core/rules.h"
#include "tara/core/symmetry.h"
#include "tara/core/variant.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/evaluators/caching_evaluator.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/training/trainer.h"
#include "tests/nn/test_positions.h"

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
  void SetUp() override {
    const std::string path = ::testing::TempDir() + "/symmetric_answers.ckpt";
    ASSERT_TRUE(
        NewTrainer({.channels = 8, .blocks = 2}, {}, 1)->Save(path, {}).ok());
    auto network = LoadNetworkEvaluator(path);
    ASSERT_TRUE(network.ok()) << network.status();
    network_ = *std::move(network);
    std::filesystem::remove(path);
  }

  static std::vector<mcts::Evaluation> Ask(mcts::Evaluator& evaluator,
                                           const std::vector<State>& states) {
    std::vector<mcts::Evaluation> results(states.size());
    EXPECT_TRUE(evaluator.Evaluate(states, absl::MakeSpan(results)).ok());
    return results;
  }

  static void ExpectSame(const mcts::Evaluation& a, const mcts::Evaluation& b) {
    EXPECT_EQ(a.priors, b.priors);
    EXPECT_EQ(a.win, b.win);
    EXPECT_EQ(a.draw, b.draw);
    EXPECT_EQ(a.loss, b.loss);
    EXPECT_EQ(a.margin, b.margin);
    EXPECT_EQ(a.margins, b.margins);
  }

  std::unique_ptr<mcts::Evaluator> network_;
};

// What is symmetric in itself is led to its representative in several ways, and
// each image may take another: it has the same priors, but those of an action
// and of one that a symmetry of the position takes it to may change places.
TEST_F(SymmetricAnswersTest, DifferInTheOrderOfPriorsAlone) {
  int symmetric = 0;  // positions
  int exchanged = 0;  // their images in which priors change places
  for (const State& state : Positions()) {
    const mcts::Evaluation expected = Ask(*network_, {state})[0];
    const std::vector<Symmetry> own = SymmetriesOf(state);
    symmetric += own.size() > 1 ? 1 : 0;
    std::vector<std::vector<float>> priors;
    for (const Symmetry& symmetry : own) {
      priors.push_back(Permuted(symmetry, state, expected.priors));
    }
    for (const Symmetry& symmetry : PositionSymmetries(state.variant)) {
      mcts::Evaluation image =
          Ask(*network_, {TransformState(symmetry, state)})[0];
      mcts::PermutePriors(symmetry, state, image.priors);
      EXPECT_EQ(image.win, expected.win);
      EXPECT_EQ(image.draw, expected.draw);
      EXPECT_EQ(image.loss, expected.loss);
      EXPECT_EQ(image.margin, expected.margin);
      EXPECT_EQ(image.margins, expected.margins);
      EXPECT_THAT(priors, ::testing::Contains(image.priors));
      exchanged += image.priors == expected.priors ? 0 : 1;
    }
  }
  EXPECT_GE(symmetric, 10);  // beginnings of games
  EXPECT_GT(exchanged, 0);
}

TEST_F(SymmetricAnswersTest, AreTheSamePriorsWithoutASymmetryOfTheirOwn) {
  int compared = 0;
  for (const State& state : Positions()) {
    if (SymmetriesOf(state).size() > 1) continue;
    const mcts::Evaluation expected = Ask(*network_, {state})[0];
    for (const Symmetry& symmetry : PositionSymmetries(state.variant)) {
      mcts::Evaluation image =
          Ask(*network_, {TransformState(symmetry, state)})[0];
      mcts::PermutePriors(symmetry, state, image.priors);
      EXPECT_EQ(image.priors, expected.priors);
      ++compared;
    }
  }
  EXPECT_GE(compared, 100);
}

TEST_F(SymmetricAnswersTest, AreTheSameFromACacheThatSharesThem) {
  std::vector<State> states;
  for (const State& state : RandomPositionsOfAllVariants(3, 6)) {
    for (const Symmetry& symmetry : PositionSymmetries(state.variant)) {
      states.push_back(TransformState(symmetry, state));
    }
  }
  const std::vector<mcts::Evaluation> expected = Ask(*network_, states);
  mcts::CachingEvaluator cache(network_.get(),
                               {.positions = 1 << 14, .symmetric = true});
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 0; i < states.size(); i += 7) {
      const size_t end = std::min(i + 7, states.size());
      const std::vector<mcts::Evaluation> results =
          Ask(cache, {states.begin() + static_cast<std::ptrdiff_t>(i),
                      states.begin() + static_cast<std::ptrdiff_t>(end)});
      for (size_t k = i; k < end; ++k) ExpectSame(results[k - i], expected[k]);
    }
  }
  EXPECT_GT(cache.hits(), cache.requests() / 2);
}

}  // namespace
}  // namespace tara::nn
