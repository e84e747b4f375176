// Inference with LibTorch on any device. Without a GPU the path of devices runs
// on the CPU, where streams do nothing and the rest is the same code; its twin
// is the evaluator that computes with Tara's own kernels.

#include <cmath>
#include <memory>
#include <new>
#include <stdexcept>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/nn/cpu/cpu_evaluator.h"
#include "tara/nn/inference_options.h"
#include "tara/nn/torch/device_evaluator.h"
#include "tara/nn/torch/torch_runtime.h"
#include "tara/nn/weights/checkpoint.h"
#include "tests/nn/nn_testing.h"
#include "tests/nn/torch_testing.h"

namespace tara::nn {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Rounding: the size of a batch decides in which order LibTorch adds up.
constexpr float kRounding = 1e-5f;

class TorchEvaluatorTest : public ::testing::Test {
 protected:
  std::vector<mcts::Evaluation> Expected(
      const std::vector<State>& states) const {
    return EvaluationsBy(*NewCpuEvaluator(checkpoint_).value(), states);
  }
  std::unique_ptr<mcts::Evaluator> OnDevice(
      const DeviceEvaluatorOptions& options) const {
    auto evaluator = NewDeviceEvaluator(checkpoint_, options);
    EXPECT_THAT(evaluator, IsOk());
    return std::move(evaluator->evaluator);
  }

  Checkpoint checkpoint_ = LivelyNetwork({.channels = 16, .blocks = 3}, 5);
};

TEST_F(TorchEvaluatorTest, ACallInPartsAnswersAsTheWhole) {
  const auto all = RandomPositionsOfAllVariants(10, 31);
  const auto expected = Expected(all);
  for (const int max_part : {1, 7, 16, 512}) {
    // One evaluator for calls of many sizes: what an earlier and larger one
    // left in its buffers must not show.
    const auto evaluator =
        OnDevice({.max_part = max_part, .least_part = (max_part + 1) / 2});
    for (const size_t size : {100, 1, 3, 0, 16, 17, 64}) {
      ExpectNear(
          EvaluationsBy(*evaluator, absl::MakeConstSpan(all).first(size)),
          absl::MakeConstSpan(expected).first(size), kRounding);
    }
  }
}

TEST_F(TorchEvaluatorTest, ThreadsThatAskAtOnceGetTheirOwnAnswers) {
  const auto evaluator = OnDevice({.max_part = 8, .least_part = 4});
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&, i] {
      const auto states = RandomPositionsOfAllVariants(1 + i % 3, 40 + i);
      const auto expected = Expected(states);
      for (int round = 0; round < 8; ++round) {
        ExpectNear(EvaluationsBy(*evaluator, states), expected, kRounding);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(TorchEvaluatorTest, Bfloat16AnswersNearlyAsFloat32) {
  const auto states = RandomPositionsOfAllVariants(6, 32);
  const auto expected = Expected(states);
  const auto results =
      EvaluationsBy(*OnDevice({.precision = Precision::kBfloat16}), states);
  // Eight bits of mantissa: 0.4 % a rounding, of logits of a few units.
  ExpectNear(results, expected, 0.03f);
  // It was another computation.
  float difference = 0;
  for (size_t i = 0; i < states.size(); ++i) {
    difference += std::abs(results[i].win - expected[i].win);
  }
  EXPECT_GT(difference, 1e-4f);
}

TEST_F(TorchEvaluatorTest, Float16AnswersNearlyAsFloat32OrIsRefused) {
  const auto evaluator =
      NewDeviceEvaluator(checkpoint_, {.precision = Precision::kFloat16});
  if (!evaluator.ok()) {  // LibTorch 1.13 on the CPU
    EXPECT_THAT(evaluator.status(),
                StatusIs(absl::StatusCode::kUnimplemented,
                         AllOf(HasSubstr("float16"), HasSubstr("cpu"))));
    return;
  }
  const auto states = RandomPositionsOfAllVariants(6, 32);
  ExpectNear(EvaluationsBy(*evaluator->evaluator, states), Expected(states),
             0.005f);
}

TEST_F(TorchEvaluatorTest, PrecisionsThatItCannotComputeAreUnimplemented) {
  EXPECT_THAT(
      NewDeviceEvaluator(checkpoint_, {.precision = Precision::kInt8}).status(),
      StatusIs(absl::StatusCode::kUnimplemented,
               AllOf(HasSubstr("int8"), HasSubstr("bfloat16"))));
  // Activations beyond 3.4e38, the range of bfloat16 and of float32.
  for (NamedTensor& tensor : checkpoint_.tensors) {
    for (float& value : tensor.values) {
      if (absl::EndsWith(tensor.name, "running_var")) value = 1e-5f;
      if (absl::StartsWith(tensor.name, "block")) value *= 1e20f;
    }
  }
  EXPECT_THAT(
      NewDeviceEvaluator(checkpoint_, {.precision = Precision::kBfloat16})
          .status(),
      StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("differ")));
}

TEST(TorchErrorTest, ExhaustedMemoryIsToldFromOtherFailures) {
  const std::runtime_error of_device(
      "CUDA out of memory. Tried to allocate 2.00 GiB\nstack trace");
  const std::runtime_error of_host(
      "DefaultCPUAllocator: can't allocate memory");
  const std::runtime_error of_library("CUDNN_STATUS_ALLOC_FAILED");
  const std::bad_alloc of_language;
  for (const std::exception* const error :
       std::initializer_list<const std::exception*>{
           &of_device, &of_host, &of_library, &of_language}) {
    EXPECT_THAT(
        TorchError("evaluating 512 positions on cuda:0", "use fewer", *error),
        StatusIs(absl::StatusCode::kResourceExhausted,
                 AllOf(HasSubstr("512 positions on cuda:0"),
                       HasSubstr("use fewer"), Not(HasSubstr("stack")))));
  }
  EXPECT_THAT(
      TorchError("evaluating", "use fewer",
                 std::runtime_error("shapes differ")),
      StatusIs(absl::StatusCode::kInternal, HasSubstr("shapes differ")));
}

}  // namespace
}  // namespace tara::nn
