#include "tara/train/config/autopilot.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/train/config/config.h"

namespace tara::train {
namespace {

// What was measured.
using Asked = std::vector<std::pair<int, int>>;

// Returns the choice for measured rates; `asked` gets what was measured.
template <typename Rate>
AutopilotChoice Choose(const AutopilotLimits& limits, const Rate& rate,
                       Asked* asked = nullptr) {
  const absl::StatusOr<AutopilotChoice> choice = ChooseBatches(
      limits, [&](int threads, int batch) -> absl::StatusOr<double> {
        if (asked != nullptr) asked->push_back({threads, batch});
        return rate(threads, batch);
      });
  EXPECT_TRUE(choice.ok()) << choice.status();
  return choice.value_or(AutopilotChoice());
}

TEST(AutopilotTest, TakesTheLeastGamesThatReachTheBestRate) {
  // Batches of 24 and more are as good as each other; games are a third more.
  const auto rate = [](int threads, int batch) {
    return threads * 1000.0 * std::min(batch, 24);
  };
  EXPECT_EQ(Choose({.cores = 2, .games = 1000}, rate),
            (AutopilotChoice{.threads = 2, .games_per_thread = 32}));
}

TEST(AutopilotTest, WithABackendThatNeedsNoBatchesAFewGamesAreEnough) {
  const auto rate = [](int threads, int) { return threads * 1000.0; };
  EXPECT_EQ(Choose({.cores = 4, .games = 1000}, rate),
            (AutopilotChoice{.threads = 4, .games_per_thread = 8}));
}

TEST(AutopilotTest, LooksPastOneBadSizeButNotPastTwo) {
  const auto rate = [](int, int batch) {
    return batch == 12 ? 900.0 : batch == 24 ? 2000.0 : 1000.0;
  };
  Asked asked;
  EXPECT_EQ(Choose({.cores = 1, .games = 4000}, rate, &asked),
            (AutopilotChoice{.threads = 1, .games_per_thread = 32}));
  EXPECT_EQ(asked, (Asked{{1, 6}, {1, 12}, {1, 24}, {1, 48}, {1, 96}}));
}

TEST(AutopilotTest, StaysWithinTheGamesOfAGeneration) {
  const auto rate = [](int threads, int batch) {
    return threads * batch * 1.0;
  };
  EXPECT_EQ(Choose({.cores = 3, .games = 100}, rate),
            (AutopilotChoice{.threads = 3, .games_per_thread = 34}));
  EXPECT_EQ(Choose({.cores = 8, .games = 3}, rate),
            (AutopilotChoice{.threads = 8, .games_per_thread = 1}));
}

TEST(AutopilotTest, ForADeviceOneThreadMayBeTheBest) {
  // The device is the bottleneck: all threads together fill it.
  const auto rate = [](int, int batch) { return std::min(batch, 200) * 100.0; };
  EXPECT_EQ(Choose({.cores = 16, .games = 2000, .on_cpu = false}, rate).threads,
            1);
  const auto faster = [](int threads, int batch) {
    return std::min(threads, 2) * std::min(batch, 200) * 100.0;
  };
  EXPECT_EQ(
      Choose({.cores = 16, .games = 2000, .on_cpu = false}, faster).threads, 2);
}

TEST(AutopilotTest, TheSameMeasurementsGiveTheSameChoice) {
  const auto rate = [](int threads, int batch) {
    return threads * 1000.0 * batch / (batch + 10.0);
  };
  const AutopilotLimits limits = {.cores = 2, .games = 500};
  EXPECT_EQ(Choose(limits, rate), Choose(limits, rate));
}

TEST(AutopilotTest, ErrorsOfAMeasurementAreReturned) {
  const auto fail = [](int, int) -> absl::StatusOr<double> {
    return absl::InternalError("no device");
  };
  EXPECT_EQ(ChooseBatches({.cores = 1, .games = 8}, fail).status().message(),
            "no device");
}

TEST(AutopilotTest, MeasuresAnEvaluatorOnAllThreads) {
  mcts::UniformEvaluator evaluator;
  const std::vector<State> starts = {InitialState(Variant::kSacredHillL1)};
  const MeasureRate measure = MeasureEvaluator(evaluator, starts);
  const absl::StatusOr<double> rate = measure(2, 12);
  ASSERT_TRUE(rate.ok());
  EXPECT_GT(*rate, 0);
}

class ApplyAutopilotTest : public ::testing::Test {
 protected:
  void SetUp() override {
    run_dir_ = ::testing::TempDir() + "/autopilot";
    std::filesystem::remove_all(run_dir_);
  }

  proto::TrainConfig Config(const std::string& self_play) const {
    const auto config = ParseTrainConfig(
        "run_dir: '" + run_dir_ +
            "' network { channels: 2 blocks: 1 } self_play { " + self_play +
            " games_per_generation: 40 }",
        "test", {});
    EXPECT_TRUE(config.ok()) << config.status();
    return config.value_or(proto::TrainConfig());
  }

  std::string run_dir_;
};

TEST_F(ApplyAutopilotTest, ChoosesWithinTheLimitsAndWritesNothing) {
  proto::TrainConfig config = Config("");
  ASSERT_TRUE(ApplyAutopilot(config).ok());
  EXPECT_GE(config.self_play().threads(), 1u);
  EXPECT_GE(config.self_play().games_per_thread(), 1u);
  EXPECT_LE(config.self_play().games_per_thread(), 40u);
  EXPECT_FALSE(std::filesystem::exists(run_dir_));
}

TEST_F(ApplyAutopilotTest, ARunGoesOnWithWhatItsConfigRecords) {
  proto::TrainConfig before = Config("");
  before.mutable_self_play()->set_threads(7);
  before.mutable_self_play()->set_games_per_thread(13);
  std::filesystem::create_directories(run_dir_);
  std::ofstream(run_dir_ + "/config.textproto") << ConfigToText(before);
  proto::TrainConfig config = Config("");
  ASSERT_TRUE(ApplyAutopilot(config).ok());
  EXPECT_EQ(config.self_play().threads(), 7u);
  EXPECT_EQ(config.self_play().games_per_thread(), 13u);
}

TEST_F(ApplyAutopilotTest, WhatIsGivenStands) {
  proto::TrainConfig config = Config("threads: 3");
  ASSERT_TRUE(ApplyAutopilot(config).ok());
  EXPECT_EQ(config.self_play().threads(), 3u);
  EXPECT_EQ(config.self_play().games_per_thread(), 32u);
  EXPECT_FALSE(std::filesystem::exists(run_dir_));
}

}  // namespace
}  // namespace tara::train
