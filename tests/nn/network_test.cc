// The front door to networks: loading a file, and what its evaluator says.

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/core/outcome.h"
#include "tara/core/rules.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/inference_options.h"
#include "tara/nn/torch/torch_runtime.h"
#include "tara/nn/training/trainer.h"
#include "tests/base/temporary_folder.h"
#include "tests/nn/nn_testing.h"
#include "tests/nn/torch_testing.h"

namespace tara::nn {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;

class NetworkTest : public ::testing::Test {
 protected:
  NetworkTest() { Write(SmallNetwork()); }

  void Write(const Checkpoint& network) const {
    ASSERT_THAT(WriteCheckpoint(path_, network), IsOk());
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_.At("network.checkpoint");
};

TEST_F(NetworkTest, AnswersAreProbabilitiesForEveryVariant) {
  const auto evaluator = LoadNetworkEvaluator(path_).value();
  const auto states = RandomPositionsOfAllVariants(30, 21);
  const auto results = EvaluationsBy(*evaluator, states);
  const auto sum_of = [](const std::vector<float>& chances) {
    EXPECT_THAT(chances, Each(Ge(0)));
    return std::accumulate(chances.begin(), chances.end(), 0.0);
  };
  for (size_t i = 0; i < states.size(); ++i) {
    const mcts::Evaluation& result = results[i];
    ASSERT_EQ(static_cast<int>(result.priors.size()),
              LegalActions(states[i]).Count());
    ASSERT_EQ(result.margins.size(), kNumMargins);
    EXPECT_NEAR(sum_of(result.priors), 1, 1e-5);
    EXPECT_NEAR(sum_of({result.win, result.draw, result.loss}), 1, 1e-5);
    EXPECT_NEAR(sum_of(result.margins), 1, 1e-5);
    float mean = 0;
    for (int margin = -kMaxMargin; margin <= kMaxMargin; ++margin) {
      mean += static_cast<float>(margin) * result.margins[margin + kMaxMargin];
    }
    EXPECT_NEAR(result.margin, mean, 1e-4);
  }
}

TEST_F(NetworkTest, ADamagedCheckpointIsRefusedByAllWhoLoadIt) {
  const auto expect = [&](absl::StatusCode code, const std::string& message) {
    EXPECT_THAT(LoadTrainer(path_, {.threads = 1}),
                StatusIs(code, HasSubstr(message)));
    EXPECT_THAT(LoadNetworkEvaluator(path_),
                StatusIs(code, HasSubstr(message)));
  };
  Checkpoint network = SmallNetwork();
  const std::string missing = network.tensors[0].name;
  network.tensors.erase(network.tensors.begin());
  Write(network);
  expect(absl::StatusCode::kDataLoss, missing);
  std::filesystem::resize_file(path_, 1000);
  expect(absl::StatusCode::kDataLoss, path_);
  std::filesystem::remove(path_);
  expect(absl::StatusCode::kNotFound, path_);
}

TEST_F(NetworkTest, OutputsThatAreNotFiniteAreAnErrorThatNamesTheFile) {
  Checkpoint network = SmallNetwork();
  for (NamedTensor& tensor : network.tensors) {
    std::fill(tensor.values.begin(), tensor.values.end(), 3e38f);
  }
  Write(network);
  for (const InferenceBackend backend :
       {InferenceBackend::kTara, InferenceBackend::kTorch}) {
    const auto evaluator = LoadNetworkEvaluator(
        path_, {.backend = backend, .precision = Precision::kFloat32});
    ASSERT_THAT(evaluator, IsOk());
    const State state = InitialState(Variant::kFourTreasures);
    mcts::Evaluation result;
    EXPECT_THAT(
        (*evaluator)->Evaluate({&state, 1}, {&result, 1}),
        StatusIs(absl::StatusCode::kDataLoss,
                 AllOf(HasSubstr("Checkpoint " + path_),
                       HasSubstr("four_treasures "), HasSubstr("not finite"))));
  }
}

// --- Devices and precisions --------------------------------------------------

TEST_F(NetworkTest, TowersOnTheCpuHaveNoOtherPrecision) {
  for (const Precision precision :
       {Precision::kInt8, Precision::kFloat16, Precision::kBfloat16}) {
    EXPECT_THAT(LoadNetwork(path_, {.precision = precision}),
                StatusIs(absl::StatusCode::kUnimplemented,
                         absl::StrCat("a tower is computed in float32 on the "
                                      "CPU; expected precision=auto or "
                                      "float32, not ",
                                      PrecisionName(precision))));
  }
}

TEST_F(NetworkTest, TextsThatNameNoDeviceAreInvalid) {
  for (const std::string text : {"", "gpu", "cpu:0", "CUDA", "cuda:", "cuda:-1",
                                 "cuda:x", "cuda:128", "cuda:0,1", "cuda 0"}) {
    EXPECT_THAT(
        LoadNetwork(path_, {.device = text}),
        StatusIs(absl::StatusCode::kInvalidArgument,
                 AllOf(HasSubstr("'" + text + "'"), HasSubstr("cuda:all"))));
  }
}

TEST_F(NetworkTest, DevicesThatAreNotThereAreRefusedWithWhatThereIs) {
  if (FindTorchDevices("cuda").ok()) {
    // On a machine with GPUs, but not with 128.
    EXPECT_THAT(
        FindTorchDevices("cuda:127"),
        StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("finds")));
    return;
  }
  for (const std::string text : {"cuda", "cuda:1", "cuda:all"}) {
    EXPECT_THAT(LoadNetwork(path_, {.device = text}),
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         AllOf(HasSubstr("'" + text + "'"), HasSubstr("CUDA"),
                               HasSubstr("LibTorch"))));
  }
}

// --- One number type for all loads -------------------------------------------

// Loads nothing. Where it is to choose, it chooses another number type each
// time, as measurements on a busy machine may.
class NetworkLoaderTest : public NetworkTest {
 protected:
  absl::StatusOr<LoadedNetwork> Choose(const InferenceOptions& options) {
    constexpr Precision kChoices[] = {Precision::kBfloat16, Precision::kFloat32,
                                      Precision::kFloat16};
    LoadedNetwork network;
    network.info = {.backend = options.backend, .precision = options.precision};
    if (options.precision != Precision::kAuto) return network;
    if (fails_) return absl::ResourceExhaustedError("no memory");
    network.info.precision = kChoices[choices_++ % 3];
    return network;
  }

  Precision Load(const std::string& path,
                 Precision precision = Precision::kAuto) {
    const auto network = loader_.FromFile(
        path, {.backend = InferenceBackend::kTorch, .precision = precision});
    return network.ok() ? network->info.precision : Precision::kAuto;
  }

  bool fails_ = false;
  std::atomic<int> choices_ = 0;
  NetworkLoader loader_{
      [this](const Checkpoint&, const InferenceOptions& options) {
        return Choose(options);
      }};
};

TEST_F(NetworkLoaderTest, ChoosesOnceForAllThreads) {
  std::vector<Precision> precisions(8);
  std::vector<std::thread> threads;
  for (Precision& precision : precisions) {
    threads.emplace_back([&] { precision = Load(path_); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(precisions, Each(Precision::kBfloat16));
  EXPECT_EQ(choices_, 1);
}

TEST_F(NetworkLoaderTest, ChoosesForContentsNotForNames) {
  EXPECT_EQ(Load(path_), Precision::kBfloat16);
  const std::string copy = folder_.At("copy");
  std::filesystem::copy_file(path_, copy);
  EXPECT_EQ(Load(copy), Precision::kBfloat16);
  ASSERT_THAT(WriteCheckpoint(copy, LivelyNetwork({.channels = 4}, 2)), IsOk());
  EXPECT_EQ(Load(copy), Precision::kFloat32);
  EXPECT_EQ(Load(path_), Precision::kBfloat16);
  EXPECT_EQ(choices_, 2);
}

TEST_F(NetworkLoaderTest, NeitherAFailureNorAWishIsAChoice) {
  fails_ = true;
  EXPECT_EQ(Load(path_), Precision::kAuto);
  fails_ = false;
  EXPECT_EQ(Load(path_, Precision::kFloat16), Precision::kFloat16);
  EXPECT_EQ(Load(path_), Precision::kBfloat16);
  EXPECT_EQ(Load(path_, Precision::kFloat32), Precision::kFloat32);
  EXPECT_EQ(Load(path_), Precision::kBfloat16);
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

}  // namespace
}  // namespace tara::nn
