#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tara/cli/checkpoint_evaluation.h"
#include "tara/nn/training/trainer.h"
#include "tara/train/config/config.h"
#include "tara/train/progress/progress.h"
#include "tara/train/run/pipeline.h"

namespace tara::cli {
namespace {

constexpr auto kNeverStop = [] { return false; };

proto::TrainConfig Config(int threads) {
  const auto config = train::ParseTrainConfig(
      "variant: 'four_treasures' variant: 'stone_of_destiny' "
      "gate { games: 70 simulations: 4 }",
      "test.textproto",
      std::vector<std::string>{absl::StrCat("self_play.threads=", threads)});
  EXPECT_TRUE(config.ok()) << config.status();
  return *config;
}

// Writes a new network as a checkpoint.
std::string NewCheckpoint(uint64_t seed) {
  const std::string path =
      absl::StrCat(testing::TempDir(), "/ckpt-00000", seed, ".pt");
  const auto trainer = nn::NewTrainer({.channels = 4, .blocks = 1}, {}, seed);
  EXPECT_TRUE(trainer->Save(path, {}).ok());
  return path;
}

train::GateRequest Request(const proto::TrainConfig& config) {
  return {.candidate_path = NewCheckpoint(2),
          .candidate = 2,
          .best_path = NewCheckpoint(1),
          .best = 1,
          .inference = config.inference(),
          .on_progress = {}};
}

TEST(CheckpointGateTest, ResultsDoNotDependOnThreads) {
  const auto one = PlayGate(Config(1), Request(Config(1)), nullptr, kNeverStop);
  const auto three =
      PlayGate(Config(3), Request(Config(3)), nullptr, kNeverStop);
  ASSERT_TRUE(one.ok()) << one.status();
  ASSERT_TRUE(three.ok()) << three.status();
  ASSERT_EQ(one->size(), 2u);
  EXPECT_EQ((*one)[0].result.variant, "four_treasures");
  EXPECT_EQ((*one)[1].result.variant, "stone_of_destiny");
  for (int v = 0; v < 2; ++v) {
    EXPECT_EQ((*one)[v].result.opponent, "ckpt-000001");
    EXPECT_LE((*one)[v].result.games, 70);
    EXPECT_EQ((*three)[v].result.wins, (*one)[v].result.wins);
    EXPECT_EQ((*three)[v].result.losses, (*one)[v].result.losses);
    EXPECT_EQ((*three)[v].weaker, (*one)[v].weaker);
  }
}

TEST(CheckpointGateTest, ANetworkIsNotWeakerThanItself) {
  const proto::TrainConfig config = Config(2);
  train::GateRequest request = Request(config);
  request.candidate_path = request.best_path;
  const auto results = PlayGate(config, request, nullptr, kNeverStop);
  ASSERT_TRUE(results.ok()) << results.status();
  for (const train::GateResult& result : *results) EXPECT_FALSE(result.weaker);
}

TEST(CheckpointGateTest, HoldsBackANetworkThatHasForgottenWhatItLearned) {
  const std::string run_dir = absl::StrCat(testing::TempDir(), "/learned");
  const auto config = train::ParseTrainConfig(
      R"(generations: 3
         network { channels: 8 blocks: 1 }
         self_play {
           games_per_generation: 120 threads: 2
           search { simulations: 16 option: "proof=on" }
         }
         learner { steps_per_generation: 60 batch_size: 128 warmup_steps: 5
                   learning_rate: 0.01 }
         gate { games: 200 simulations: 16 })",
      "test.textproto",
      std::vector<std::string>{absl::StrCat("run_dir=", run_dir)});
  ASSERT_TRUE(config.ok()) << config.status();
  train::Progress progress({.form = train::ProgressForm::kLines});
  const auto learned = train::RunTraining(*config, {}, kNeverStop, progress);
  ASSERT_TRUE(learned.ok()) << learned.status();

  train::GateRequest request = Request(*config);
  request.best_path = learned->checkpoint_path;
  auto results = PlayGate(*config, request, nullptr, kNeverStop);
  ASSERT_TRUE(results.ok()) << results.status();
  ASSERT_EQ(results->size(), 1u);
  EXPECT_TRUE((*results)[0].weaker);
  // The test is sequential: so clear a case takes few of the 200 games.
  EXPECT_LT((*results)[0].result.games, 200);

  std::swap(request.best_path, request.candidate_path);
  results = PlayGate(*config, request, nullptr, kNeverStop);
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_FALSE((*results)[0].weaker);
}

TEST(CheckpointGateTest, IsCancelledWhenToldToStop) {
  const auto results =
      PlayGate(Config(1), Request(Config(1)), nullptr, [] { return true; });
  EXPECT_EQ(results.status().code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace tara::cli
