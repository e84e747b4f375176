#include "tara/train/run/pipeline.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/nn/heads.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/weights/checkpoint.h"
#include "tara/record/game_record.h"
#include "tara/train/config/config_options.h"
#include "tara/train/folder/checkpoints.h"
#include "tara/train/folder/run_folder.h"
#include "tara/train/play/self_play.h"
#include "tests/status_matchers.h"
#include "tests/train/pipeline_testing.h"
#include "tests/train/train_testing.h"

namespace tara::train {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// The second kind of network, through the same run.
TEST(LightTrainingTest, LearnsPlaysAndGoesOn) {
  const std::vector<std::string> kLight = {
      "network.kind=light", "network.channels=64", "network.blocks=2"};
  const std::string run_dir = TestFolder("light");
  std::vector<std::string> begun = kLight;
  begun.push_back("generations=1");
  ASSERT_EQ(Trained(Tiny(run_dir, begun)).generation, 1);
  const auto summary = Trained(Tiny(run_dir, kLight));
  EXPECT_EQ(summary.generation, 2);

  const nn::Checkpoint checkpoint =
      nn::ReadCheckpoint(summary.checkpoint_path).value();
  EXPECT_EQ(checkpoint.shape.kind, nn::NetworkKind::kLight);
  EXPECT_GT(checkpoint.progress.step, 0);
  const auto player = nn::LoadNetwork(summary.checkpoint_path).value();
  EXPECT_EQ(player.info.precision, nn::Precision::kInt8);
  // The start, and another run from what was learned.
  const std::string from = TestFolder("light_from");
  std::vector<std::string> continued = kLight;
  continued.push_back("init_from=" + run_dir);
  EXPECT_EQ(Trained(Tiny(from, continued)).generation, 2);
  continued[2] = "network.blocks=3";
  EXPECT_THAT(
      std::string(
          CheckInitFrom(Tiny(TestFolder("light_other"), continued)).message()),
      HasSubstr("64 channels and 2 layers (kind light), that of the config"));
}

class TrainingOfVariantTest : public ::testing::TestWithParam<VariantInfo> {};

TEST_P(TrainingOfVariantTest, RunsThroughAndLeavesAPlayer) {
  const std::string id(GetParam().id);
  const std::string run_dir = TestFolder("train_" + id);
  const auto summary = Trained(Tiny(run_dir, {"variant=" + id}));
  EXPECT_EQ(summary.generation, 2);
  EXPECT_FALSE(summary.stopped);
  EXPECT_EQ(*LatestCheckpoint(run_dir), summary.checkpoint_path);

  const auto games = GamesOf(run_dir);
  EXPECT_EQ(games.size(), 12u);
  for (const proto::GameRecord& game : games) {
    EXPECT_THAT(record::ValidateRecord(game), IsOk());
    EXPECT_EQ(game.variant(), id);
    EXPECT_EQ(game.model_id(), CheckpointName(game.generation()));
  }

  const auto player = nn::LoadNetworkEvaluator(summary.checkpoint_path).value();
  const State start = InitialState(GetParam().variant);
  mcts::Evaluation evaluation;
  ASSERT_THAT(player->Evaluate(absl::MakeConstSpan(&start, 1),
                               absl::MakeSpan(&evaluation, 1)),
              IsOk());
  EXPECT_EQ(static_cast<int>(evaluation.priors.size()),
            LegalActions(start).Count());
}

INSTANTIATE_TEST_SUITE_P(AllVariants, TrainingOfVariantTest,
                         ::testing::ValuesIn(kVariants), VariantName);

TEST(PipelineTest, AllVariantsCanBeLearnedByOneNetwork) {
  const std::string run_dir = TestFolder("all");
  Trained(Tiny(run_dir, {"variant=all", "generations=1",
                         "self_play.games_per_generation=20"}));
  const auto games = GamesOf(run_dir);
  ASSERT_EQ(games.size(), 20u);
  for (size_t i = 0; i < games.size(); ++i) {
    EXPECT_EQ(games[i].variant(), kVariants[i % kNumVariants].id);
  }
}

TEST(PipelineTest, AStoppedRunGoesOnWithTheGamesItLacks) {
  const std::string run_dir = TestFolder("stopped");
  const proto::TrainConfig config = Tiny(run_dir);
  auto summary = TrainedUntil(9, config);
  EXPECT_TRUE(summary.stopped);
  EXPECT_EQ(summary.generation, 1);
  const size_t kept = GamesOf(run_dir).size();
  EXPECT_GE(kept, 9u);
  EXPECT_LT(kept, 12u);

  summary = Trained(config);
  EXPECT_EQ(summary.generation, 2);
  const auto games = GamesOf(run_dir);
  ASSERT_EQ(games.size(), 12u);
  for (size_t i = 0; i < games.size(); ++i) {
    EXPECT_EQ(games[i].game_index(), i);
    EXPECT_EQ(games[i].generation(), i / 6);
  }
}

TEST(PipelineTest, AFinishedRunIsOnlyEvaluatedAgainUnlessGenerationsGrow) {
  const std::string run_dir = TestFolder("finished");
  std::vector<StrengthRequest> requests;
  TrainCallbacks callbacks;
  callbacks.evaluate = [&](const StrengthRequest& request) {
    requests.push_back(request);
    return std::vector<StrengthResult>{{.variant = "sacred_hill_l1",
                                        .opponent = "random",
                                        .games = 4,
                                        .score = 0.5}};
  };
  Trained(Tiny(run_dir), callbacks);
  ASSERT_EQ(requests.size(), 2u);  // generation 1, and the end
  EXPECT_FALSE(requests[0].is_final);
  EXPECT_TRUE(requests[1].is_final);
  EXPECT_THAT(requests[1].checkpoint_path, HasSubstr("ckpt-000002"));
  EXPECT_THAT(requests[1].opponent_path, HasSubstr("ckpt-000001"));

  requests.clear();
  const std::vector<std::string> lines = MetricsOf(run_dir);
  const auto again = Trained(Tiny(run_dir), callbacks);
  EXPECT_EQ(MetricsOf(run_dir), lines);  // none is there twice
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_TRUE(requests[0].is_final);
  EXPECT_EQ(again.strength.size(), 1u);
  EXPECT_EQ(GamesOf(run_dir).size(), 12u);

  const auto longer = Trained(Tiny(run_dir, {"generations=3"}));
  EXPECT_EQ(longer.generation, 3);
  EXPECT_EQ(GamesOf(run_dir).size(), 18u);
}

TEST(PipelineTest, WithOverlapGamesAreOneCheckpointOlder) {
  const std::string run_dir = TestFolder("overlap");
  Trained(Tiny(run_dir, {"overlap=true", "generations=3"}));
  const auto games = GamesOf(run_dir);
  ASSERT_EQ(games.size(), 18u);
  for (const proto::GameRecord& game : games) {
    const int generation = static_cast<int>(game.generation());
    EXPECT_EQ(game.model_id(), CheckpointName(std::max(0, generation - 1)));
  }
}

TEST(PipelineTest, WithOverlapAGenerationBeginsWhileTheLastGamesGoOn) {
  const std::string run_dir = TestFolder("ahead");
  // A game of generation 1 ends only after one of generation 2, which is played
  // by what was learned from generation 0.
  std::atomic<bool> held = false;
  std::atomic<bool> ahead = false;
  absl::Notification next_generation;
  bool played_ahead = false;
  TrainCallbacks callbacks;
  callbacks.on_game_stored = [&](uint64_t game_index) {
    if (game_index >= 12) {
      if (!ahead.exchange(true)) next_generation.Notify();
    } else if (game_index >= 6 && !held.exchange(true)) {
      played_ahead =
          next_generation.WaitForNotificationWithTimeout(absl::Minutes(2));
    }
  };
  Trained(
      Tiny(run_dir, {"overlap=true", "generations=3", "inference.device=cpu"}),
      callbacks);
  EXPECT_TRUE(played_ahead);

  const std::string undisturbed = TestFolder("undisturbed");
  Trained(Tiny(undisturbed, {"overlap=true", "generations=3"}));
  EXPECT_EQ(GamesOf(run_dir).size(), 18u);
  EXPECT_EQ(BytesOf(GamesOf(run_dir)), BytesOf(GamesOf(undisturbed)));
}

TEST(PipelineTest, AWarmStartIsPlayedBySearchWithRandomGames) {
  const std::string run_dir = TestFolder("warm_start");
  const proto::TrainConfig config =
      Tiny(run_dir, {"self_play.warm_start.generations=1",
                     "self_play.warm_start.simulations=24"});
  Trained(config);
  const auto games = GamesOf(run_dir);
  ASSERT_EQ(games.size(), 12u);

  auto options = ToSelfPlayOptions(config).value();
  options.search.simulations = 24;
  options.model_id = "random games";
  mcts::PlayoutEvaluator judge(/*playouts=*/1, config.seed());
  SelfPlayStats stats;
  EXPECT_EQ(BytesOf(PlayGamesWith(judge, options, IndicesTo(6), stats)),
            BytesOf({games.begin(), games.begin() + 6}));
  for (int i = 6; i < 12; ++i) {
    EXPECT_EQ(games[i].model_id(), "ckpt-000001");
  }
}

TEST(PipelineTest, ANetworkToBeginWithPlaysInPlaceOfAWarmStart) {
  const std::string first = TestFolder("warm_start_first");
  Trained(Tiny(first, {"generations=1"}));
  const std::string run_dir = TestFolder("warm_start_second");
  Trained(Tiny(run_dir, {absl::StrCat("init_from=", first), "generations=1",
                         "self_play.warm_start.generations=1"}));
  EXPECT_EQ(GamesOf(run_dir).front().model_id(), "ckpt-000000");
}

TEST(PipelineTest, ALostLatestFileIsWrittenAgain) {
  const std::string run_dir = TestFolder("latest");
  Trained(Tiny(run_dir));
  std::filesystem::remove(run_dir + "/checkpoints/latest");
  Trained(Tiny(run_dir));
  EXPECT_EQ(*LatestCheckpoint(run_dir),
            run_dir + "/checkpoints/ckpt-000002.pt");
}

TEST(PipelineTest, MetricsHaveALineForSelfPlayAndForLearning) {
  const std::string run_dir = TestFolder("metrics");
  Trained(Tiny(run_dir));
  const auto lines = MetricsOf(run_dir);
  std::vector<std::string> events;
  for (const std::string& line : lines) {
    const auto event = nlohmann::json::parse(line);
    events.push_back(event.at("event"));
    if (events.back() != "learning_speed") continue;
    // Tiny's six steps of 32 samples.
    EXPECT_NEAR(event.at("samples_per_second").get<double>() *
                    event.at("seconds").get<double>(),
                6 * 32, 1e-6);
    const double shares = event.at("step_share").get<double>() +
                          event.at("wait_for_batch_share").get<double>() +
                          event.at("read_share").get<double>();
    EXPECT_GT(shares, 0);
    EXPECT_LE(shares, 1);
  }
  EXPECT_THAT(events, ElementsAre("self_play", "learning_speed", "learning",
                                  "self_play", "learning_speed", "learning"));
}

TEST(PipelineTest, HeldOutLossesAreLoggedByHeadAndVariant) {
  const std::string run_dir = TestFolder("held_out");
  Trained(Tiny(run_dir,
               {"variant=four_treasures", "generations=1",
                "learner.held_out_share=0.5", "learner.owner_loss_weight=1"}));
  const auto lines = MetricsOf(run_dir);
  ASSERT_EQ(lines.size(), 4u);
  // Before the line of the learning that it belongs to.
  const std::string& line = lines[2];
  EXPECT_THAT(line, HasSubstr("\"event\":\"held_out\",\"generation\":1,"
                              "\"variant\":\"four_treasures\""));
  for (const nn::HeadInfo& head : nn::kHeads) {
    EXPECT_THAT(line, HasSubstr(absl::StrCat("\"", head.name, "_loss\":")));
  }
  EXPECT_THAT(line, Not(HasSubstr("\"owner_loss\":0.0")));
}

TEST(PipelineTest, AllTargetsAndOptionsOfSelfPlayTrainTogether) {
  const std::string run_dir = TestFolder("all_targets");
  std::vector<std::string> overrides = {
      "variant=sacred_hill_doubles_l1,stone_of_destiny",
      "self_play.search.option=gumbel=on,graph=on,proof=on,solver_hills=6",
      "self_play.resignation.threshold=0.6",
      "self_play.resignation.turns=1",
      "self_play.leaves_per_game=2",
      "self_play.evaluation_groups=2",
      "self_play.playout_cap.full_share=0.5",
      "self_play.playout_cap.fast_simulations=4",
      "self_play.opening.share=0.5",
      "learner.value_search_share=0.5",
      "learner.window_growth=0.75",
      "learner.window_min_games=8"};
  for (const nn::HeadInfo& head : nn::kHeads) {
    if (head.weight_field.empty()) continue;
    overrides.push_back(absl::StrCat("learner.", head.weight_field, "=0.1"));
  }
  const auto summary = Trained(Tiny(run_dir, overrides));
  EXPECT_EQ(summary.generation, 2);
  const auto games = GamesOf(run_dir);
  EXPECT_EQ(games.size(), 12u);
  ExpectValid(games);
  const std::string self_play = MetricsOf(run_dir, "self_play")[0];
  EXPECT_THAT(self_play, HasSubstr("\"graph_share\":0."));
  EXPECT_THAT(self_play, HasSubstr("\"games_played_on\":"));
  for (const std::string& line : MetricsOf(run_dir, "learning")) {
    EXPECT_THAT(line, HasSubstr("\"window_games\":"));
    for (const nn::HeadInfo& head : nn::kHeads) {
      EXPECT_THAT(line,
                  Not(HasSubstr(absl::StrCat(head.name, "_loss\":0.0,"))));
    }
  }
}

TEST(PipelineTest, AnErrorOfTheEvaluatorEndsTheRun) {
  TrainCallbacks callbacks;
  callbacks.evaluate = [](const StrengthRequest&)
      -> absl::StatusOr<std::vector<StrengthResult>> {
    return absl::InternalError("no opponents");
  };
  EXPECT_THAT(Train(Tiny(TestFolder("failing"), {"overlap=true"}), callbacks),
              StatusIs(absl::StatusCode::kInternal));
}

}  // namespace
}  // namespace tara::train
