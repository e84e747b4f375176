// Towers by Tara's kernels against LibTorch: no answer depends on the batch,
// the neighbours or the thread.

#include "tara/nn/cpu/cpu_evaluator.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/rules.h"
#include "tara/core/symmetry.h"
#include "tara/core/variant.h"
#include "tara/mcts/evaluators/caching_evaluator.h"
#include "tara/nn/heads.h"
#include "tara/nn/torch/device_evaluator.h"
#include "tara/nn/weights/checkpoint.h"
#include "tests/nn/nn_testing.h"
#include "tests/nn/torch_testing.h"

namespace tara::nn {
namespace {

std::unique_ptr<mcts::Evaluator> NewEvaluator(const NetworkShape& shape) {
  return NewCpuEvaluator(LivelyNetwork(shape)).value();
}

TEST(CpuEvaluatorTest, AgreesWithLibTorchForEveryShapeAndVariant) {
  const std::vector<State> states = RandomPositionsOfAllVariants(4, 5);
  for (const NetworkShape shape : {NetworkShape{.channels = 8, .blocks = 2},
                                   NetworkShape{.channels = 24, .blocks = 3},
                                   NetworkShape{.channels = 40, .blocks = 1},
                                   NetworkShape{.channels = 64, .blocks = 4}}) {
    SCOPED_TRACE(shape.channels);
    const auto torch =
        NewDeviceEvaluator(LivelyNetwork(shape), {.device = "cpu"});
    ASSERT_TRUE(torch.ok()) << torch.status();
    ExpectNear(EvaluationsBy(*NewEvaluator(shape), states),
               EvaluationsBy(*torch->evaluator, states), 1e-4f);
  }
}

TEST(CpuEvaluatorTest, AnswersDependOnNeitherBatchNorNeighbours) {
  for (const NetworkShape shape : {NetworkShape{.channels = 24, .blocks = 2},
                                   NetworkShape{.channels = 64, .blocks = 2}}) {
    const auto evaluator = NewEvaluator(shape);
    const std::vector<State> states = RandomPositionsOfAllVariants(7, 5);
    std::vector<mcts::Evaluation> alone;
    for (const State& state : states) {
      alone.push_back(EvaluationsBy(*evaluator, {state})[0]);
    }
    Random random(DeriveSeed(1, 0, StreamPurpose::kTest));
    std::vector<int> order(states.size());
    std::iota(order.begin(), order.end(), 0);
    for (size_t batch = 1; batch <= states.size(); ++batch) {
      std::shuffle(order.begin(), order.end(), random);
      std::vector<State> chosen;
      std::vector<mcts::Evaluation> expected;
      for (size_t i = 0; i < batch; ++i) {
        chosen.push_back(states[order[i]]);
        expected.push_back(alone[order[i]]);
      }
      ExpectEqual(EvaluationsBy(*evaluator, chosen), expected);
    }
  }
}

TEST(CpuEvaluatorTest, ThreadsShareAnEvaluator) {
  const auto evaluator = NewEvaluator({.channels = 16, .blocks = 2});
  const std::vector<State> states = RandomPositionsOfAllVariants(3, 5);
  const auto expected = EvaluationsBy(*evaluator, states);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        ExpectEqual(EvaluationsBy(*evaluator, states), expected);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(CpuEvaluatorTest, MissingTensorsAreNamed) {
  const Checkpoint checkpoint = LivelyNetwork({.channels = 8, .blocks = 1});
  for (size_t i = 0; i < checkpoint.tensors.size(); ++i) {
    const std::string& name = checkpoint.tensors[i].name;
    if (IsOfOptimizer(name) || AuxiliaryHeadOf(name) != nullptr) continue;
    Checkpoint damaged = checkpoint;
    damaged.tensors.erase(damaged.tensors.begin() + i);
    const auto is_named =
        StatusIs(absl::StatusCode::kInvalidArgument, "missing tensor " + name);
    EXPECT_THAT(NewCpuEvaluator(damaged), is_named);
    EXPECT_THAT(NewDeviceEvaluator(damaged, {}).status(), is_named);
  }
}

// Symmetric positions are one to a network: what lets a cache share them.

std::vector<float> Permuted(const Symmetry& symmetry, const State& state,
                            std::vector<float> priors) {
  mcts::PermutePriors(symmetry, state, priors);
  return priors;
}

class SymmetricAnswersTest : public ::testing::Test {
 protected:
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
  std::vector<State> positions = RandomPositionsOfAllVariants(3, 5);
  for (const VariantInfo& info : kVariants) {
    positions.push_back(InitialState(info.variant, {}));
  }
  for (const State& state : positions) {
    const mcts::Evaluation expected = EvaluationsBy(*network_, {state})[0];
    std::vector<std::vector<float>> priors;
    for (const Symmetry& symmetry : PositionSymmetries(state.variant)) {
      // The identity, and others of positions that are symmetric in themselves.
      if (TransformState(symmetry, state) != state) continue;
      priors.push_back(Permuted(symmetry, state, expected.priors));
    }
    symmetric += priors.size() > 1;
    for (const Symmetry& symmetry : PositionSymmetries(state.variant)) {
      mcts::Evaluation image =
          EvaluationsBy(*network_, {TransformState(symmetry, state)})[0];
      // In the order of the state's actions.
      mcts::PermutePriors(symmetry, state, image.priors);
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
