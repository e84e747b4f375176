// Inference with LibTorch on any device. Without a GPU the path of devices runs
// on the CPU, where streams do nothing and the rest is the same code; its twin
// is the evaluator that computes with Tara's own kernels.

#include <cmath>
#include <filesystem>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/nn/cpu/cpu_evaluator.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/inference_options.h"
#include "tara/nn/torch/device_evaluator.h"
#include "tara/nn/torch/torch_runtime.h"
#include "tara/nn/training/trainer.h"
#include "tara/nn/weights/checkpoint.h"
#include "tests/nn/test_positions.h"

namespace tara::nn {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Rounding: the size of a batch decides in which order LibTorch adds up.
constexpr float kRounding = 1e-5f;

// A file of a network whose norms have means and variances of their own.
class TorchEvaluatorTest : public ::testing::Test {
 protected:
  TorchEvaluatorTest()
      : path_(::testing::TempDir() + "/" +
              ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    const auto trainer =
        NewTrainer({.channels = 16, .blocks = 3}, {.threads = 1}, 5);
    EXPECT_TRUE(trainer->Save(path_, {}).ok());
    auto checkpoint = ReadCheckpoint(path_);
    EXPECT_TRUE(checkpoint.ok()) << checkpoint.status();
    checkpoint_ = *std::move(checkpoint);
    Random random(DeriveSeed(6, 0, StreamPurpose::kTest));
    for (NamedTensor& tensor : checkpoint_.tensors) {
      const bool mean = absl::EndsWith(tensor.name, "running_mean");
      if (!mean && !absl::EndsWith(tensor.name, "running_var")) continue;
      for (float& value : tensor.values) {
        const auto normal = static_cast<float>(random.Normal());
        value = mean ? 0.2f * normal : std::exp(0.3f * normal);
      }
    }
    EXPECT_TRUE(WriteCheckpoint(path_, checkpoint_).ok());
  }
  ~TorchEvaluatorTest() override { std::filesystem::remove(path_); }

  std::unique_ptr<mcts::Evaluator> Reference() const {
    auto evaluator = NewCpuEvaluator(checkpoint_);
    EXPECT_TRUE(evaluator.ok()) << evaluator.status();
    return *std::move(evaluator);
  }

  std::unique_ptr<mcts::Evaluator> OnDevice(
      const DeviceEvaluatorOptions& options) const {
    auto evaluator = NewDeviceEvaluator(checkpoint_, options);
    EXPECT_TRUE(evaluator.ok()) << evaluator.status();
    return std::move(evaluator->evaluator);
  }

  static std::vector<mcts::Evaluation> Evaluate(
      mcts::Evaluator& evaluator, const std::vector<State>& states) {
    std::vector<mcts::Evaluation> results(states.size());
    const absl::Status status =
        evaluator.Evaluate(states, absl::MakeSpan(results));
    EXPECT_TRUE(status.ok()) << status;
    return results;
  }

  static void ExpectNear(const std::vector<mcts::Evaluation>& results,
                         const std::vector<mcts::Evaluation>& expected,
                         float tolerance) {
    ASSERT_EQ(results.size(), expected.size());
    for (size_t i = 0; i < results.size(); ++i) {
      const mcts::Evaluation& a = results[i];
      const mcts::Evaluation& b = expected[i];
      ASSERT_EQ(a.priors.size(), b.priors.size());
      for (size_t j = 0; j < a.priors.size(); ++j) {
        EXPECT_NEAR(a.priors[j], b.priors[j], tolerance);
      }
      EXPECT_NEAR(a.win, b.win, tolerance);
      EXPECT_NEAR(a.loss, b.loss, tolerance);
      ASSERT_EQ(a.margins.size(), b.margins.size());
      for (size_t j = 0; j < a.margins.size(); ++j) {
        EXPECT_NEAR(a.margins[j], b.margins[j], tolerance);
      }
    }
  }

  const std::string path_;
  Checkpoint checkpoint_;
};

TEST_F(TorchEvaluatorTest, ACallInPartsAnswersAsTheWhole) {
  const auto all = RandomPositionsOfAllVariants(10, 31);
  const auto expected = Evaluate(*Reference(), all);
  for (const int max_part : {1, 7, 16, 512}) {
    // One evaluator for calls of many sizes: what an earlier and larger one
    // left in its buffers must not show.
    const auto evaluator =
        OnDevice({.max_part = max_part, .least_part = (max_part + 1) / 2});
    for (const size_t size : {100, 1, 3, 16, 17, 64}) {
      const std::vector<State> states(all.begin(), all.begin() + size);
      ExpectNear(Evaluate(*evaluator, states),
                 {expected.begin(), expected.begin() + size}, kRounding);
    }
    EXPECT_TRUE(Evaluate(*evaluator, {}).empty());
  }
}

TEST_F(TorchEvaluatorTest, ThreadsThatAskAtOnceGetTheirOwnAnswers) {
  const auto reference = Reference();
  const auto evaluator = OnDevice({.max_part = 8, .least_part = 4});
  constexpr int kThreads = 6;
  std::vector<std::vector<State>> states(kThreads);
  std::vector<std::vector<mcts::Evaluation>> expected(kThreads);
  std::vector<std::vector<std::vector<mcts::Evaluation>>> results(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    states[i] = RandomPositionsOfAllVariants(1 + i % 3, 40 + i);
    expected[i] = Evaluate(*reference, states[i]);
  }
  {
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        for (int round = 0; round < 8; ++round) {
          results[i].push_back(Evaluate(*evaluator, states[i]));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  for (int i = 0; i < kThreads; ++i) {
    for (const auto& result : results[i]) {
      ExpectNear(result, expected[i], kRounding);
    }
  }
}

TEST_F(TorchEvaluatorTest, Bfloat16AnswersNearlyAsFloat32) {
  const auto states = RandomPositionsOfAllVariants(6, 32);
  const auto expected = Evaluate(*Reference(), states);
  const auto evaluator = OnDevice({.precision = Precision::kBfloat16});
  const auto results = Evaluate(*evaluator, states);
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
    EXPECT_EQ(evaluator.status().code(), absl::StatusCode::kUnimplemented);
    EXPECT_THAT(std::string(evaluator.status().message()),
                AllOf(HasSubstr("float16"), HasSubstr("cpu")));
    return;
  }
  const auto states = RandomPositionsOfAllVariants(6, 32);
  ExpectNear(Evaluate(*evaluator->evaluator, states),
             Evaluate(*Reference(), states), 0.005f);
}

TEST_F(TorchEvaluatorTest, PrecisionsThatTheBackendLacksAreUnimplemented) {
  for (const Precision precision : {Precision::kInt8}) {
    const auto evaluator =
        NewDeviceEvaluator(checkpoint_, {.precision = precision});
    EXPECT_EQ(evaluator.status().code(), absl::StatusCode::kUnimplemented);
    EXPECT_THAT(std::string(evaluator.status().message()),
                AllOf(HasSubstr(std::string(PrecisionName(precision))),
                      HasSubstr("bfloat16")));
  }
}

TEST_F(TorchEvaluatorTest, ANetworkTooLargeInItsTypeIsRefused) {
  // Activations beyond 3.4e38, the range of bfloat16 and of float32.
  for (NamedTensor& tensor : checkpoint_.tensors) {
    if (!absl::EndsWith(tensor.name, "running_var")) continue;
    for (float& value : tensor.values) value = 1e-5f;
  }
  for (NamedTensor& tensor : checkpoint_.tensors) {
    if (!absl::StartsWith(tensor.name, "block")) continue;
    for (float& value : tensor.values) value *= 1e20f;
  }
  const auto evaluator =
      NewDeviceEvaluator(checkpoint_, {.precision = Precision::kBfloat16});
  EXPECT_EQ(evaluator.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(evaluator.status().message()), HasSubstr("differ"));
}

TEST_F(TorchEvaluatorTest, TheFrontDoorLeadsToEveryPrecision) {
  const auto states = RandomPositionsOfAllVariants(2, 33);
  const auto load = [&](Precision precision) {
    auto evaluator = LoadNetworkEvaluator(
        path_, {.backend = InferenceBackend::kTorch, .precision = precision});
    EXPECT_TRUE(evaluator.ok()) << evaluator.status();
    return *std::move(evaluator);
  };
  const auto expected = Evaluate(*Reference(), states);
  ExpectNear(Evaluate(*load(Precision::kFloat32), states), expected, kRounding);
  ExpectNear(Evaluate(*load(Precision::kBfloat16), states), expected, 0.03f);
}

TEST_F(TorchEvaluatorTest, TextsThatNameNoDeviceAreInvalid) {
  for (const char* const text : {"", "gpu", "cpu:0", "CUDA", "cuda:", "cuda:-1",
                                 "cuda:x", "cuda:128", "cuda:0,1", "cuda 0"}) {
    const absl::Status status =
        LoadNetworkEvaluator(path_, {.device = text}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(
        std::string(status.message()),
        AllOf(HasSubstr(std::string("'") + text + "'"), HasSubstr("cuda:all")));
    EXPECT_EQ(NewDeviceEvaluator(checkpoint_, {.device = text}).status(),
              status);
  }
}

TEST_F(TorchEvaluatorTest, DevicesThatAreNotThereAreRefusedWithWhatThereIs) {
  if (FindTorchDevices("cuda").ok()) {
    // On a machine with GPUs, but not with 128.
    const auto devices = FindTorchDevices("cuda:127");
    EXPECT_EQ(devices.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(devices.status().message()), HasSubstr("finds"));
    return;
  }
  for (const char* const text : {"cuda", "cuda:1", "cuda:all"}) {
    const absl::Status status =
        LoadNetworkEvaluator(path_, {.device = text}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr(std::string("'") + text + "'"),
                      HasSubstr("CUDA"), HasSubstr("LibTorch")));
  }
}

TEST_F(TorchEvaluatorTest, ACheckpointWithoutATensorIsRefusedByName) {
  const std::string missing = checkpoint_.tensors[2].name;
  checkpoint_.tensors.erase(checkpoint_.tensors.begin() + 2);
  const auto evaluator = NewDeviceEvaluator(checkpoint_, {});
  EXPECT_EQ(evaluator.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(evaluator.status().message()), HasSubstr(missing));
}

TEST(DeviceTextTest, DevicesAreReadAsTheyAreWritten) {
  EXPECT_TRUE(ParseDevice("cpu")->is_cpu);
  EXPECT_FALSE(ParseDevice("cuda")->is_cpu);
  EXPECT_EQ(ParseDevice("cuda")->index, 0);
  EXPECT_EQ(ParseDevice("cuda:7")->index, 7);
  EXPECT_FALSE(ParseDevice("cuda:7")->all);
  EXPECT_TRUE(ParseDevice("cuda:all")->all);
  EXPECT_THAT(*FindTorchDevices("cpu"), ElementsAre("cpu"));
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
    const absl::Status status =
        TorchError("evaluating 512 positions on cuda:0", "use fewer", *error);
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr("512 positions on cuda:0"),
                      HasSubstr("use fewer"), Not(HasSubstr("stack"))));
  }
  const absl::Status other = TorchError("evaluating", "use fewer",
                                        std::runtime_error("shapes differ"));
  EXPECT_EQ(other.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(other.message()), HasSubstr("shapes differ"));
}

}  // namespace
}  // namespace tara::nn
