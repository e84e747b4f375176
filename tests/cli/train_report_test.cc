#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "proto/config.pb.h"
#include "tara/cli/train.h"
#include "tara/nn/training/trainer.h"
#include "tara/train/config/config.h"
#include "tara/train/progress/progress.h"
#include "tara/train/run/pipeline.h"
#include "tests/status_matchers.h"

namespace tara::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string StrengthLine(int generation, const std::string& opponent,
                         double score) {
  return absl::StrCat("{\"event\":\"strength\",\"generation\":", generation,
                      ",\"variant\":\"high_kings_l1\",\"opponent\":\"",
                      opponent, "\",\"score\":", score, "}\n");
}

std::string WriteMetrics(const std::string& lines) {
  const std::string path = testing::TempDir() + "/metrics.jsonl";
  std::ofstream(path) << lines;
  return path;
}

TEST(StrengthReportTest, HasScoreIntervalAndEloOfEachOpponent) {
  proto::TrainConfig config;
  config.mutable_evaluation()->set_simulations(100);
  train::TrainSummary summary;
  summary.checkpoint_path = "run/checkpoints/ckpt-000012.pt";
  summary.strength = {{.variant = "high_kings_l1",
                       .opponent = "greedy",
                       .games = 200,
                       .wins = 150,
                       .draws = 20,
                       .losses = 30,
                       .score = 0.8,
                       .score_low = 0.7504,
                       .score_high = 0.8496},
                      {.variant = "high_kings_l1",
                       .opponent = "random",
                       .games = 200,
                       .wins = 200,
                       .draws = 0,
                       .losses = 0,
                       .score = 1,
                       .score_low = 0.981,
                       .score_high = 1}};
  const std::string report = StrengthReport(summary, config);
  EXPECT_THAT(report, HasSubstr("ckpt-000012 at 100 simulations"));
  // 400 log10(0.8 / 0.2) = 240.8
  EXPECT_THAT(report,
              HasSubstr("high_kings_l1  greedy      200   150     20      30  "
                        "   80.0   [75.0, 85.0]  +241\n"));
  EXPECT_THAT(report, HasSubstr("100.0  [98.1, 100.0]  +inf\n"));
  EXPECT_THAT(report, Not(HasSubstr("forfeited")));
  summary.strength[1].forfeits = 3;
  EXPECT_THAT(StrengthReport(summary, config),
              HasSubstr("Of the wins in high_kings_l1, 3 are games that random "
                        "forfeited.\n"));
}

TEST(StrengthCurvesTest, DrawTheScoresOverTheGenerations) {
  const std::string curves =
      StrengthCurves(
          WriteMetrics(absl::StrCat(
              "{\"event\":\"learning\",\"generation\":1}\n",
              StrengthLine(2, "greedy", 0.0), StrengthLine(2, "random", 0.4),
              StrengthLine(4, "greedy", 0.51),
              // Evaluated again after a kill: the last word counts.
              StrengthLine(6, "greedy", 0.3), StrengthLine(6, "greedy", 1.0))))
          .value();
  EXPECT_THAT(curves, HasSubstr("greedy          ▁▅█  0 to 100 %\n"));
  // One generation is no curve.
  EXPECT_THAT(curves, testing::Not(HasSubstr("random")));
}

TEST(StrengthCurvesTest, DamagedLinesAreLeftOutWithOneNote) {
  const std::string path = WriteMetrics(absl::StrCat(
      StrengthLine(2, "greedy", 0.0), "{\"event\":\"stren\n", "7\n",
      "{\"event\":\"strength\",\"generation\":3,"
      "\"variant\":\"high_kings_l1\",\"opponent\":\"greedy\"}\n",
      StrengthLine(4, "greedy", 1.0)));
  const std::string curves = StrengthCurves(path).value();
  EXPECT_THAT(curves, HasSubstr("greedy          ▁█  0 to 100 %\n"));
  EXPECT_THAT(curves, HasSubstr("Left out: 3 lines of " + path +
                                " that cannot be read, such as line 2."));
}

constexpr auto kNeverStop = [] { return false; };

proto::TrainConfig Config(int threads) {
  return train::ParseTrainConfig(
             "variant: 'four_treasures' variant: 'stone_of_destiny' "
             "gate { games: 70 simulations: 4 }",
             "test.textproto",
             std::vector<std::string>{
                 absl::StrCat("self_play.threads=", threads)})
      .value();
}

// Writes a new network as a checkpoint.
std::string NewCheckpoint(uint64_t seed) {
  const std::string path =
      absl::StrCat(testing::TempDir(), "/ckpt-00000", seed, ".pt");
  const auto trainer = nn::NewTrainer({.channels = 4, .blocks = 1}, {}, seed);
  EXPECT_TRUE(trainer->Save(path, {}).ok());
  return path;
}

train::StrengthRequest Request(const proto::TrainConfig& config) {
  return {.checkpoint_path = NewCheckpoint(2),
          .generation = 2,
          .opponent_path = NewCheckpoint(1),
          .inference = config.inference(),
          .on_progress = {}};
}

TEST(CheckpointGateTest, ResultsDoNotDependOnThreads) {
  const auto play = [](int threads) {
    const proto::TrainConfig config = Config(threads);
    return PlayGate(config, Request(config), nullptr, kNeverStop).value();
  };
  const auto one = play(1), three = play(3);
  ASSERT_EQ(one.size(), 2u);
  EXPECT_EQ(one[0].variant, "four_treasures");
  EXPECT_EQ(one[1].variant, "stone_of_destiny");
  for (int v = 0; v < 2; ++v) {
    EXPECT_EQ(one[v].opponent, "ckpt-000001");
    EXPECT_LE(one[v].games, 70);
    EXPECT_EQ(three[v].wins, one[v].wins);
    EXPECT_EQ(three[v].losses, one[v].losses);
    EXPECT_EQ(three[v].weaker, one[v].weaker);
  }
}

TEST(CheckpointGateTest, ANetworkIsNotWeakerThanItself) {
  const proto::TrainConfig config = Config(2);
  train::StrengthRequest request = Request(config);
  request.checkpoint_path = request.opponent_path;
  const auto results = PlayGate(config, request, nullptr, kNeverStop).value();
  for (const train::StrengthResult& result : results)
    EXPECT_FALSE(result.weaker);
}

TEST(CheckpointGateTest, HoldsBackANetworkThatHasForgottenWhatItLearned) {
  const std::string run_dir = absl::StrCat(testing::TempDir(), "/learned");
  const auto config =
      train::ParseTrainConfig(
          R"(generations: 3
         network { channels: 8 blocks: 1 }
         self_play {
           games_per_generation: 120 threads: 2
           search { simulations: 16 option: "proof=on" }
         }
         learner { steps_per_generation: 60 batch_size: 128 warmup_steps: 5
                   learning_rate: 0.01 }
         gate { games: 200 simulations: 16 })",
          "test.textproto", std::vector<std::string>{"run_dir=" + run_dir})
          .value();
  train::Progress progress({.form = train::ProgressForm::kLines});
  const auto learned =
      train::RunTraining(config, {}, kNeverStop, progress).value();

  train::StrengthRequest request = Request(config);
  request.opponent_path = learned.checkpoint_path;
  auto results = PlayGate(config, request, nullptr, kNeverStop).value();
  ASSERT_EQ(results.size(), 1u);
  EXPECT_TRUE(results[0].weaker);
  // The test is sequential: so clear a case takes few of the 200 games.
  EXPECT_LT(results[0].games, 200);

  std::swap(request.opponent_path, request.checkpoint_path);
  results = PlayGate(config, request, nullptr, kNeverStop).value();
  EXPECT_FALSE(results[0].weaker);
}

TEST(CheckpointGateTest, IsCancelledWhenToldToStop) {
  const auto results =
      PlayGate(Config(1), Request(Config(1)), nullptr, [] { return true; });
  EXPECT_THAT(results, StatusIs(absl::StatusCode::kCancelled));
}

}  // namespace
}  // namespace tara::cli
