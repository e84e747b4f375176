// Loads of one network compute in one number type.

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/inference_options.h"
#include "tara/nn/training/trainer.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {
namespace {

// Loads nothing. Where it is to choose, it chooses another number type each
// time, as measurements on a busy machine may.
class FickleLoad {
 public:
  absl::StatusOr<LoadedNetwork> operator()(const Checkpoint&,
                                           const InferenceOptions& options) {
    LoadedNetwork network;
    network.info.backend = options.backend;
    network.info.precision = options.precision;
    if (options.precision != Precision::kAuto) return network;
    constexpr Precision kChoices[] = {Precision::kInt8, Precision::kFloat32,
                                      Precision::kBfloat16};
    network.info.precision = kChoices[choices_++ % 3];
    return network;
  }

  int choices() const { return choices_; }

 private:
  std::atomic<int> choices_ = 0;
};

class NetworkLoaderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = ::testing::TempDir() + "/loaded.ckpt";
    ASSERT_TRUE(
        NewTrainer({.channels = 4, .blocks = 1}, {}, 1)->Save(path_, {}).ok());
  }

  Precision Load(const std::string& path,
                 const InferenceOptions& options = {}) {
    const auto network = loader_.FromFile(path, options);
    EXPECT_TRUE(network.ok()) << network.status();
    return network.ok() ? network->info.precision : Precision::kAuto;
  }

  std::string path_;
  FickleLoad load_;
  NetworkLoader loader_{
      [this](const Checkpoint& checkpoint, const InferenceOptions& options) {
        return load_(checkpoint, options);
      }};
};

TEST_F(NetworkLoaderTest, ChoosesOnceForAllThreads) {
  std::vector<Precision> precisions(8);
  std::vector<std::thread> threads;
  for (Precision& precision : precisions) {
    threads.emplace_back([&] { precision = Load(path_); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(precisions, std::vector<Precision>(8, Precision::kInt8));
  EXPECT_EQ(load_.choices(), 1);
}

TEST_F(NetworkLoaderTest, ChoosesForContentsNotForNames) {
  EXPECT_EQ(Load(path_), Precision::kInt8);
  const std::string copy = path_ + ".copy";
  std::filesystem::copy_file(path_, copy,
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(Load(copy), Precision::kInt8);
  EXPECT_EQ(load_.choices(), 1);
  ASSERT_TRUE(
      NewTrainer({.channels = 4, .blocks = 1}, {}, 2)->Save(copy, {}).ok());
  EXPECT_EQ(Load(copy), Precision::kFloat32);
  EXPECT_EQ(Load(path_), Precision::kInt8);
  EXPECT_EQ(load_.choices(), 2);
}

TEST_F(NetworkLoaderTest, ChoosesForEachBackend) {
  EXPECT_EQ(Load(path_), Precision::kInt8);
  // What auto means on the CPU.
  EXPECT_EQ(Load(path_, {.backend = InferenceBackend::kTara}),
            Precision::kInt8);
  EXPECT_EQ(Load(path_, {.backend = InferenceBackend::kTorch}),
            Precision::kFloat32);
}

TEST_F(NetworkLoaderTest, ANumberTypeThatIsAskedForIsNoChoice) {
  EXPECT_EQ(Load(path_, {.precision = Precision::kBfloat16}),
            Precision::kBfloat16);
  EXPECT_EQ(Load(path_), Precision::kInt8);
  EXPECT_EQ(Load(path_, {.precision = Precision::kFloat32}),
            Precision::kFloat32);
  EXPECT_EQ(Load(path_), Precision::kInt8);
  EXPECT_EQ(load_.choices(), 1);
}

TEST_F(NetworkLoaderTest, AFailureChoosesNothing) {
  int calls = 0;
  NetworkLoader loader(
      [&](const Checkpoint& checkpoint,
          const InferenceOptions& options) -> absl::StatusOr<LoadedNetwork> {
        if (++calls == 1) return absl::ResourceExhaustedError("no memory");
        return load_(checkpoint, options);
      });
  EXPECT_EQ(loader.FromFile(path_, {}).status().code(),
            absl::StatusCode::kResourceExhausted);
  const auto network = loader.FromFile(path_, {});
  ASSERT_TRUE(network.ok()) << network.status();
  EXPECT_EQ(network->info.precision, Precision::kInt8);
}

// That the program's own loader is such a one.
TEST_F(NetworkLoaderTest, ANetworkIsLoadedAgainAsItWasLoadedFirst) {
  ASSERT_TRUE(
      NewTrainer({.channels = 32, .blocks = 1}, {}, 1)->Save(path_, {}).ok());
  const auto first = LoadNetwork(path_);
  ASSERT_TRUE(first.ok()) << first.status();
  for (int i = 0; i < 3; ++i) {
    const auto again = LoadNetwork(path_);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(again->info.precision, first->info.precision);
  }
}

}  // namespace
}  // namespace tara::nn
