// Towers by Tara's kernels against LibTorch: no answer depends on the batch,
// the neighbours or the thread.

#include "tara/nn/cpu/cpu_evaluator.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/nn/cpu/cpu_kernels.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/inference_options.h"
#include "tara/nn/torch/device_evaluator.h"
#include "tara/nn/training/trainer.h"
#include "tara/nn/weights/checkpoint.h"
#include "tests/nn/test_positions.h"

namespace tara::nn {
namespace {

// A new network whose norms and biases have values of their own, as if it had
// learned.
Checkpoint LivelyCheckpoint(const NetworkShape& shape) {
  const std::string path = ::testing::TempDir() + "/cpu_evaluator.checkpoint";
  EXPECT_TRUE(NewTrainer(shape, {.threads = 1}, 1)->Save(path, {}).ok());
  auto checkpoint = ReadCheckpoint(path);
  EXPECT_TRUE(checkpoint.ok()) << checkpoint.status();
  std::filesystem::remove(path);
  Random random(DeriveSeed(2, 0, StreamPurpose::kTest));
  for (NamedTensor& tensor : checkpoint->tensors) {
    const bool variance = absl::EndsWith(tensor.name, "running_var");
    const bool others = absl::EndsWith(tensor.name, "running_mean") ||
                        absl::EndsWith(tensor.name, "bias") ||
                        absl::EndsWith(tensor.name, "norm.weight");
    for (float& value : tensor.values) {
      const auto uniform = static_cast<float>(random.Uniform());
      if (variance) value = 0.5f + uniform;
      if (others) value += 0.4f * uniform - 0.2f;
    }
  }
  return *std::move(checkpoint);
}

std::vector<mcts::Evaluation> Evaluate(mcts::Evaluator& evaluator,
                                       const std::vector<State>& states) {
  std::vector<mcts::Evaluation> results(states.size());
  EXPECT_TRUE(evaluator.Evaluate(states, absl::MakeSpan(results)).ok());
  return results;
}

std::unique_ptr<mcts::Evaluator> NewEvaluator(const Checkpoint& checkpoint) {
  auto made = NewCpuEvaluator(checkpoint);
  EXPECT_TRUE(made.ok()) << made.status();
  return *std::move(made);
}

bool Identical(const mcts::Evaluation& x, const mcts::Evaluation& y) {
  return x.priors == y.priors && x.win == y.win && x.draw == y.draw &&
         x.loss == y.loss && x.margin == y.margin && x.margins == y.margins;
}

// Largest difference of a probability, and of the margin in points.
struct Difference {
  float probability = 0;
  float margin = 0;
};

Difference Compare(const std::vector<mcts::Evaluation>& xs,
                   const std::vector<mcts::Evaluation>& ys) {
  Difference difference;
  const auto note = [](float x, float y, float& largest) {
    largest = std::max(largest, std::isfinite(x - y) ? std::abs(x - y) : 1e9f);
  };
  for (size_t i = 0; i < xs.size(); ++i) {
    EXPECT_EQ(xs[i].priors.size(), ys[i].priors.size());
    for (size_t k = 0; k < xs[i].priors.size(); ++k) {
      note(xs[i].priors[k], ys[i].priors[k], difference.probability);
    }
    for (size_t k = 0; k < xs[i].margins.size(); ++k) {
      note(xs[i].margins[k], ys[i].margins[k], difference.probability);
    }
    note(xs[i].win, ys[i].win, difference.probability);
    note(xs[i].draw, ys[i].draw, difference.probability);
    note(xs[i].loss, ys[i].loss, difference.probability);
    note(xs[i].margin, ys[i].margin, difference.margin);
  }
  return difference;
}

TEST(CpuEvaluatorTest, AgreesWithLibTorchForEveryShapeAndVariant) {
  const std::vector<State> states = RandomPositionsOfAllVariants(4, 5);
  for (const NetworkShape shape : {NetworkShape{.channels = 8, .blocks = 2},
                                   NetworkShape{.channels = 24, .blocks = 3},
                                   NetworkShape{.channels = 40, .blocks = 1},
                                   NetworkShape{.channels = 64, .blocks = 4}}) {
    const Checkpoint checkpoint = LivelyCheckpoint(shape);
    const auto torch = NewDeviceEvaluator(checkpoint, {.device = "cpu"});
    ASSERT_TRUE(torch.ok()) << torch.status();
    const auto engine = NewEvaluator(checkpoint);
    const Difference difference =
        Compare(Evaluate(*engine, states), Evaluate(*torch->evaluator, states));
    EXPECT_LT(difference.probability, 1e-4) << shape.channels;
    EXPECT_LT(difference.margin, 1e-3) << shape.channels;
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
    const Checkpoint checkpoint = LivelyCheckpoint(shape);
    const auto evaluator = NewEvaluator(checkpoint);
    const std::vector<State> states = RandomPositionsOfAllVariants(7, 5);
    ASSERT_EQ(states.size(), 70u);
    std::vector<mcts::Evaluation> alone;
    for (const State& state : states) {
      alone.push_back(Evaluate(*evaluator, {state})[0]);
    }
    Random random(DeriveSeed(1, 0, StreamPurpose::kTest));
    std::vector<int> order(states.size());
    std::iota(order.begin(), order.end(), 0);
    for (size_t batch = 1; batch <= states.size(); ++batch) {
      std::shuffle(order.begin(), order.end(), random);
      std::vector<State> chosen;
      for (size_t i = 0; i < batch; ++i) chosen.push_back(states[order[i]]);
      const std::vector<mcts::Evaluation> results =
          Evaluate(*evaluator, chosen);
      for (size_t i = 0; i < batch; ++i) {
        ASSERT_TRUE(Identical(results[i], alone[order[i]]))
            << "batch of " << batch << ", place " << i;
      }
    }
  }
}

TEST(CpuEvaluatorTest, ThreadsShareAnEvaluator) {
  const auto evaluator =
      NewEvaluator(LivelyCheckpoint({.channels = 16, .blocks = 2}));
  const std::vector<State> states = RandomPositionsOfAllVariants(3, 5);
  const std::vector<mcts::Evaluation> expected = Evaluate(*evaluator, states);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        const std::vector<mcts::Evaluation> results =
            Evaluate(*evaluator, states);
        for (size_t i = 0; i < states.size(); ++i) {
          EXPECT_TRUE(Identical(results[i], expected[i]));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(CpuEvaluatorTest, MissingTensorsAreNamed) {
  Checkpoint checkpoint = LivelyCheckpoint({.channels = 8, .blocks = 1});
  for (size_t i = 0; i < checkpoint.tensors.size(); ++i) {
    Checkpoint damaged = checkpoint;
    damaged.tensors.erase(damaged.tensors.begin() + i);
    // The same tensors are missed as by the reference.
    const auto torch = NewDeviceEvaluator(damaged, {.device = "cpu"});
    const auto engine = NewCpuEvaluator(damaged);
    EXPECT_EQ(engine.status(), torch.status());
  }
}

TEST(CpuEvaluatorTest, OtherNumberTypesAreRefused) {
  const Checkpoint checkpoint = LivelyCheckpoint({.channels = 8, .blocks = 1});
  for (const Precision precision :
       {Precision::kInt8, Precision::kFloat16, Precision::kBfloat16}) {
    EXPECT_EQ(MakeNetwork("it", checkpoint, {.precision = precision}).status(),
              absl::UnimplementedError(absl::StrCat(
                  "a tower is computed in float32 on the CPU; expected "
                  "precision=auto or float32, not ",
                  PrecisionName(precision))));
  }
}

}  // namespace
}  // namespace tara::nn
