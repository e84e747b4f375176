// Symmetric positions are one to a network: what lets a cache share them.

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "tara/core/symmetry.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/evaluators/caching_evaluator.h"
#include "tara/mcts/evaluators/permute_priors.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/training/trainer.h"
#include "tests/nn/test_positions.h"

namespace tara {
namespace {

// Whether other symmetries than the identity leave the position as it is.
bool IsSymmetric(const State& state) {
  int count = 0;
  for (const Symmetry& symmetry : PositionSymmetries(state.variant)) {
    count += TransformState(symmetry, state) == state ? 1 : 0;
  }
  return count > 1;
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

  static std::vector<Evaluation> Ask(Evaluator& evaluator,
                                     const std::vector<State>& states) {
    std::vector<Evaluation> results(states.size());
    EXPECT_TRUE(evaluator.Evaluate(states, absl::MakeSpan(results)).ok());
    return results;
  }

  static void ExpectSame(const Evaluation& a, const Evaluation& b) {
    EXPECT_EQ(a.priors, b.priors);
    EXPECT_EQ(a.win, b.win);
    EXPECT_EQ(a.draw, b.draw);
    EXPECT_EQ(a.loss, b.loss);
    EXPECT_EQ(a.margin, b.margin);
    EXPECT_EQ(a.margins, b.margins);
  }

  std::unique_ptr<Evaluator> network_;
};

TEST_F(SymmetricAnswersTest, DifferInTheOrderOfPriorsAlone) {
  for (const State& state : RandomPositionsOfAllVariants(3, 5)) {
    const Evaluation expected = Ask(*network_, {state})[0];
    for (const Symmetry& symmetry : PositionSymmetries(state.variant)) {
      Evaluation image = Ask(*network_, {TransformState(symmetry, state)})[0];
      PermutePriors(symmetry, state, image.priors);
      EXPECT_EQ(image.win, expected.win);
      EXPECT_EQ(image.margins, expected.margins);
      // What is symmetric in itself is led to its representative in several
      // ways, each of which permutes the priors of its own.
      if (IsSymmetric(state)) continue;
      EXPECT_EQ(image.priors, expected.priors);
    }
  }
}

TEST_F(SymmetricAnswersTest, AreTheSameFromACacheThatSharesThem) {
  std::vector<State> states;
  for (const State& state : RandomPositionsOfAllVariants(3, 6)) {
    for (const Symmetry& symmetry : PositionSymmetries(state.variant)) {
      states.push_back(TransformState(symmetry, state));
    }
  }
  const std::vector<Evaluation> expected = Ask(*network_, states);
  CachingEvaluator cache(network_.get(),
                         {.positions = 1 << 14, .symmetric = true});
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 0; i < states.size(); i += 7) {
      const size_t end = std::min(i + 7, states.size());
      const std::vector<Evaluation> results =
          Ask(cache, {states.begin() + static_cast<std::ptrdiff_t>(i),
                      states.begin() + static_cast<std::ptrdiff_t>(end)});
      for (size_t k = i; k < end; ++k) ExpectSame(results[k - i], expected[k]);
    }
  }
  EXPECT_GT(cache.hits(), cache.requests() / 2);
}

}  // namespace
}  // namespace tara
