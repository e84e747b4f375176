// Towers by Tara's kernels against LibTorch: no answer depends on the batch,
// the neighbours or the thread.

#include "tara/nn/cpu/cpu_evaluator.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/nn/cpu/cpu_kernels.h"
#include "tara/nn/encode/features.h"
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

// A network that lacks the last inputs plays as it did before there were any.
TEST(CpuEvaluatorTest, InputsWithoutWeightChangeNoBit) {
  constexpr int kBatch = 5, kOut = 3 * kChannelVector;
  Random random(DeriveSeed(3, 0, StreamPurpose::kTest));
  const auto numbers = [&](size_t size) {
    std::vector<float> values(size);
    for (float& value : values) value = static_cast<float>(random.Normal());
    return values;
  };
  const CpuLinearWeights before = {.in = kNumGlobals - 3,
                                   .out = kOut,
                                   .weight = numbers((kNumGlobals - 3) * kOut),
                                   .bias = numbers(kOut)};
  CpuLinearWeights after = before;
  after.in = kNumGlobals;
  after.weight.resize(kNumGlobals * kOut);
  const std::vector<float> inputs = numbers(kBatch * kNumGlobals);
  std::vector<float> first_inputs;
  for (int row = 0; row < kBatch; ++row) {
    const auto begin = inputs.begin() + row * kNumGlobals;
    first_inputs.insert(first_inputs.end(), begin, begin + before.in);
  }
  for (const CpuKernels* kernels : {&PortableCpuKernels(), &BestCpuKernels()}) {
    std::vector<float> expected(kBatch * kOut), outputs(kBatch * kOut);
    kernels->linear(before, before.bias.data(), kBatch, /*relu=*/false,
                    first_inputs.data(), expected.data());
    kernels->linear(after, after.bias.data(), kBatch, /*relu=*/false,
                    inputs.data(), outputs.data());
    EXPECT_EQ(outputs, expected);
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
    Checkpoint damaged = checkpoint;
    damaged.tensors.erase(damaged.tensors.begin() + i);
    // The same tensors are missed as by the reference.
    const auto torch = NewDeviceEvaluator(damaged, {.device = "cpu"});
    const auto engine = NewCpuEvaluator(damaged);
    EXPECT_EQ(engine.status(), torch.status());
  }
}

}  // namespace
}  // namespace tara::nn
