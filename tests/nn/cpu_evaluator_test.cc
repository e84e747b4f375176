// Towers by Tara's kernels against LibTorch: no answer depends on the batch,
// the neighbours or the thread.

#include "tara/nn/cpu/cpu_evaluator.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "tara/base/random.h"
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

}  // namespace
}  // namespace tara::nn
