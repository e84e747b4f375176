// What a run decides before it plays: variants, the gate, how long.

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/files.h"
#include "tara/core/variant.h"
#include "tara/nn/bundle/bundle.h"
#include "tara/nn/weights/checkpoint.h"
#include "tara/record/game_store.h"
#include "tara/train/folder/run_folder.h"
#include "tara/train/progress/progress.h"
#include "tara/train/run/pipeline.h"
#include "tests/status_matchers.h"
#include "tests/train/pipeline_testing.h"
#include "tests/train/train_testing.h"
#include "third_party/crc32c/crc32c.h"

namespace tara::train {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr char kTwoVariants[] = "variant=four_treasures,high_kings_l1";

std::map<std::string, int> VariantsOf(const std::string& run_dir,
                                      uint32_t generation) {
  std::map<std::string, int> games;
  for (const proto::GameRecord& game : GamesOf(run_dir)) {
    if (game.generation() == generation) ++games[game.variant()];
  }
  return games;
}

// Of ten games 3 and 7.
proto::TrainConfig Weighted(const std::string& run_dir) {
  return Tiny(run_dir, {kTwoVariants,
                        "mixture.weight=four_treasures=3,"
                        "high_kings_l1=7",
                        "self_play.games_per_generation=10"});
}

TEST(PipelineMixtureTest, ARestartPlaysTheGamesThatWerePlannedWhateverItKnows) {
  const std::string straight = TestFolder("straight");
  Trained(Weighted(straight));
  EXPECT_THAT(VariantsOf(straight, 1),
              UnorderedElementsAre(Pair("four_treasures", 3),
                                   Pair("high_kings_l1", 7)));

  const std::string run_dir = TestFolder("replanned");
  ASSERT_TRUE(TrainedUntil(13, Weighted(run_dir)).stopped);
  // Another mixture and another size count from the next generation on.
  proto::TrainConfig changed = Weighted(run_dir);
  changed.clear_mixture();
  changed.mutable_self_play()->set_games_per_generation(4);
  Trained(changed);
  const auto games = GamesOf(run_dir);
  const auto expected = GamesOf(straight);
  ASSERT_EQ(games.size(), 20u);
  for (size_t i = 0; i < games.size(); ++i) {
    EXPECT_EQ(games[i].variant(), expected[i].variant()) << "game " << i;
  }
}

// A gate that lets through what `promotes` says, and notes what it was asked.
struct FakeGate {
  std::vector<bool> promotes;
  std::vector<std::pair<int, int>> asked = {};  // candidate, best

  TrainCallbacks Callbacks() {
    TrainCallbacks callbacks;
    callbacks.gate = [this](const StrengthRequest& request) {
      EXPECT_TRUE(std::filesystem::exists(request.checkpoint_path));
      EXPECT_TRUE(std::filesystem::exists(request.opponent_path));
      // ".../ckpt-000001.pt"
      const std::string& best = request.opponent_path;
      asked.emplace_back(request.generation,
                         std::stoi(best.substr(best.size() - 9, 6)));
      return std::vector<StrengthResult>{
          {.variant = "sacred_hill_l1",
           .opponent = "best",
           .weaker = !promotes.at(request.generation - 1)}};
    };
    return callbacks;
  }
};

const std::vector<std::string> kGated = {"gate.games=2", "generations=4",
                                         "retention.keep_last_checkpoints=1",
                                         "retention.keep_every_checkpoints=0"};

TEST(PipelineGateTest, OnlyCheckpointsThatAreLetThroughPlay) {
  const std::string run_dir = TestFolder("gate");
  FakeGate gate = {.promotes = {true, false, false, true}};
  const auto summary = Trained(Tiny(run_dir, kGated), gate.Callbacks());
  EXPECT_THAT(gate.asked,
              ElementsAre(Pair(1, 0), Pair(2, 1), Pair(3, 1), Pair(4, 1)));
  EXPECT_EQ(summary.promoted, 2);
  EXPECT_EQ(summary.rejected, 2);
  EXPECT_THAT(summary.checkpoint_path, HasSubstr("ckpt-000004"));
  std::vector<std::string> models(4);
  for (const proto::GameRecord& game : GamesOf(run_dir)) {
    models[game.generation()] = game.model_id();
  }
  EXPECT_THAT(models, ElementsAre("ckpt-000000", "ckpt-000001", "ckpt-000001",
                                  "ckpt-000001"));
  EXPECT_EQ(MetricsOf(run_dir, "gate").size(), 4u);
}

TEST(PipelineGateTest, TheBestIsPublishedAndOutlivesANewerOneAndARestart) {
  const std::string run_dir = TestFolder("best");
  FakeGate gate = {.promotes = {true, false, false, false, false}};
  Trained(Tiny(run_dir, kGated), gate.Callbacks());
  EXPECT_EQ(*LatestCheckpoint(run_dir), CheckpointFile(run_dir, 1));
  proto::TrainConfig longer = Tiny(run_dir, kGated);
  longer.set_generations(5);
  const auto summary = Trained(longer, gate.Callbacks());
  EXPECT_EQ(gate.asked.back(), std::make_pair(5, 1));
  EXPECT_EQ(summary.rejected, 4);
  EXPECT_THAT(summary.checkpoint_path, HasSubstr("ckpt-000001"));
  EXPECT_TRUE(std::filesystem::exists(summary.checkpoint_path));
  EXPECT_EQ(GamesOf(run_dir).back().model_id(), "ckpt-000001");
}

TEST(PipelineGateTest, ATrialThatWasInterruptedIsMadeUpFor) {
  const std::string run_dir = TestFolder("interrupted_gate");
  FakeGate gate = {.promotes = {true, true, true, true}};
  bool stop = false;
  TrainCallbacks callbacks;
  callbacks.gate = [&](const StrengthRequest&)
      -> absl::StatusOr<std::vector<StrengthResult>> {
    stop = true;
    return absl::CancelledError("interrupted");
  };
  auto summary =
      Trained(Tiny(run_dir, kGated), callbacks, [&] { return stop; });
  EXPECT_TRUE(summary.stopped);
  summary = Trained(Tiny(run_dir, kGated), gate.Callbacks());
  EXPECT_THAT(gate.asked,
              ElementsAre(Pair(1, 0), Pair(2, 1), Pair(3, 2), Pair(4, 3)));
}

TEST(PipelineRetentionTest, OldCheckpointsAndGamesGoAndTheRunGoesOn) {
  const std::string run_dir = TestFolder("retention");
  // Ten games of the window, six of a generation.
  const std::vector<std::string> overrides = {
      "generations=6", "retention.keep_last_checkpoints=2",
      "retention.keep_every_checkpoints=3", "retention.keep_games=16"};
  Trained(Tiny(run_dir, overrides));
  std::vector<std::string> files;
  for (const auto& file :
       std::filesystem::directory_iterator(run_dir + "/checkpoints")) {
    files.push_back(file.path().filename().string());
  }
  EXPECT_THAT(files, UnorderedElementsAre("ckpt-000000.pt", "ckpt-000001.pt",
                                          "ckpt-000003.pt", "ckpt-000005.pt",
                                          "ckpt-000006.pt", "latest"));
  auto games = GamesOf(run_dir);
  ASSERT_EQ(games.size(), 16u);
  EXPECT_EQ(games.front().game_index(), 20u);

  proto::TrainConfig longer = Tiny(run_dir, overrides);
  longer.set_generations(7);
  Trained(longer);
  games = GamesOf(run_dir);
  EXPECT_EQ(games.size(), 16u);
  EXPECT_EQ(games.back().game_index(), 41u);

  // A larger window does not take for lost what was removed.
  longer.set_generations(8);
  longer.mutable_retention()->set_keep_games(0);
  longer.mutable_learner()->set_window_games(40);
  Trained(longer);
  EXPECT_EQ(GamesOf(run_dir).size(), 22u);
}

TEST(PipelineTimeTest, ARunEndsWhenItsMinutesAreUpAndGoesOnWithMore) {
  const std::string run_dir = TestFolder("minutes");
  // A generation takes some milliseconds: after the first, the next would not
  // fit into a millisecond.
  const double millisecond = 0.001 / 60;
  auto summary =
      Trained(Tiny(run_dir, {absl::StrCat("minutes=", millisecond)}));
  EXPECT_TRUE(summary.time_is_up);
  EXPECT_FALSE(summary.stopped);
  EXPECT_EQ(summary.generation, 1);
  // The time of earlier starts counts.
  summary = Trained(Tiny(run_dir, {absl::StrCat("minutes=", millisecond)}));
  EXPECT_EQ(summary.generation, 1);
  summary = Trained(Tiny(run_dir, {"minutes=1000"}));
  EXPECT_FALSE(summary.time_is_up);
  EXPECT_EQ(summary.generation, 2);
}

TEST(PipelineTimeTest, ARunBegunAgainKnowsHowLongAGenerationTakes) {
  const std::string run_dir = TestFolder("begun_again");
  auto summary = Trained(Tiny(run_dir, {"generations=1"}));
  auto state = RunStateFile::Open(run_dir + "/state.textproto").value();
  EXPECT_GT(state.state().last_generation_seconds(), 0);
  EXPECT_LE(state.state().last_generation_seconds(), state.state().seconds());
  EXPECT_GT(state.state().last_generation_cpu_seconds(), 0);
  EXPECT_LE(state.state().last_generation_cpu_seconds(),
            state.state().cpu_seconds());
  // As if that had been ten minutes: into 15 fits no other.
  state.state().set_seconds(600);
  state.state().set_last_generation_seconds(600);
  ASSERT_TRUE(state.Save().ok());
  summary = Trained(Tiny(run_dir, {"minutes=15"}));
  EXPECT_TRUE(summary.time_is_up);
  EXPECT_EQ(summary.generation, 1);
  summary = Trained(Tiny(run_dir, {"minutes=25"}));
  EXPECT_EQ(summary.generation, 2);
}

// A run whose time is that of a clock which goes on by a second each time that
// it is asked whether to stop.
class RunOnAFakeClock {
 public:
  absl::StatusOr<TrainSummary> Train(const proto::TrainConfig& config) {
    TrainCallbacks callbacks;
    callbacks.clock = [this] {
      return RunTime{.wall = absl::Seconds(seconds_.load()), .cpu = {}};
    };
    callbacks.on_game_stored = [this](uint64_t game) {
      if (on_game) on_game(game);
    };
    return tara::train::Train(config, callbacks, [this] {
      ++seconds_;
      return stop.load();
    });
  }

  int seconds() const { return seconds_; }

  std::function<void(uint64_t game)> on_game;
  std::atomic<bool> stop = false;

 private:
  std::atomic<int> seconds_ = 0;
};

double SecondsOf(const std::string& run_dir) {
  const auto state = RunStateFile::Open(run_dir + "/state.textproto").value();
  return state.state().seconds() + state.state().unfinished_seconds();
}

TEST(PipelineTimeTest, AKillLosesAtMostTenSecondsOfTheTimeUsed) {
  const std::string run_dir = TestFolder("kept_time");
  const std::string killed = TestFolder("kept_time_killed");
  const std::vector<std::string> overrides = {"self_play.threads=1",
                                              "self_play.games_per_thread=1"};
  RunOnAFakeClock run;
  int seconds = 0;  // at the kill: of all generations so far
  run.on_game = [&](uint64_t game) {
    if (game != 9) return;
    // What a kill would leave at this instant, in the second generation.
    std::filesystem::copy(run_dir, killed,
                          std::filesystem::copy_options::recursive);
    seconds = run.seconds();
  };
  ASSERT_TRUE(run.Train(Tiny(run_dir, overrides)).ok());
  ASSERT_GT(seconds, 60);
  EXPECT_LE(SecondsOf(killed), seconds);
  EXPECT_GE(SecondsOf(killed), seconds - 11);
  auto state = RunStateFile::Open(killed + "/state.textproto");
  EXPECT_EQ(state->state().generations(), 1u);
  EXPECT_GT(state->state().unfinished_seconds(), 0);

  // The same command ends at once where that was all the time there was.
  RunOnAFakeClock again;
  std::vector<std::string> timed = overrides;
  timed.push_back(absl::StrCat("minutes=", (seconds - 12) / 60.0));
  const auto summary = again.Train(Tiny(killed, timed)).value();
  EXPECT_TRUE(summary.time_is_up);
  EXPECT_EQ(summary.generation, 1);
  EXPECT_EQ(GamesOf(killed).size(), 10u);  // none was played
}

TEST(PipelineTimeTest, TheTimeOfInterruptedStartsCounts) {
  const std::string run_dir = TestFolder("interrupted_time");
  const std::vector<std::string> overrides = {"self_play.threads=1",
                                              "self_play.games_per_thread=1"};
  int seconds = 0;
  for (const uint64_t last : {2u, 4u, 8u, 100u}) {
    RunOnAFakeClock run;
    run.on_game = [&](uint64_t game) { run.stop = run.stop || game == last; };
    const auto summary = run.Train(Tiny(run_dir, overrides)).value();
    EXPECT_EQ(summary.stopped, last != 100);
    // Asked once more after its end.
    seconds += run.seconds() - (summary.stopped ? 1 : 0);
    EXPECT_NEAR(SecondsOf(run_dir), seconds, 1e-6);
  }
  const auto state = RunStateFile::Open(run_dir + "/state.textproto").value();
  EXPECT_EQ(state.state().generations(), 2u);
  EXPECT_EQ(state.state().unfinished_seconds(), 0);
  // The second generation's, of which a part was played by the third start.
  EXPECT_GT(state.state().last_generation_seconds(),
            state.state().seconds() / 4);
}

// The tensors that a checkpoint of a run has learned.
std::vector<std::vector<float>> WeightsOf(const std::string& run_dir,
                                          int generation) {
  std::vector<std::vector<float>> weights;
  const auto checkpoint =
      nn::ReadCheckpoint(CheckpointFile(run_dir, generation)).value();
  for (const nn::NamedTensor& tensor : checkpoint.tensors) {
    weights.push_back(tensor.values);
  }
  return weights;
}

TEST(GamesFromTest, ARunLearnsFromGivenGamesAsFromItsOwn) {
  const std::string first = TestFolder("first");
  Trained(Tiny(first, {"generations=1"}));
  const std::string store = "games_from=" + first + "/games.db";
  const std::string again = TestFolder("again");
  Trained(Tiny(again, {"generations=1", store}));
  EXPECT_EQ(WeightsOf(again, 1), WeightsOf(first, 1));
  EXPECT_FALSE(std::filesystem::exists(again + "/games.db"));
  EXPECT_EQ(GamesOf(first).size(), 6u);

  // It goes on, with the games that have come by then.
  Trained(Tiny(first));
  const std::string more = TestFolder("more");
  Trained(Tiny(more, {"generations=1", store}));
  EXPECT_NE(WeightsOf(more, 1), WeightsOf(again, 1));
  const auto summary = Trained(Tiny(again, {store, "overlap=true"}));
  EXPECT_EQ(summary.generation, 2);
  EXPECT_EQ(GamesOf(first).size(), 12u);
}

TEST(GamesFromTest, AStoreThatDoesNotFitIsRefusedBeforeAnythingIsWritten) {
  const std::string first = TestFolder("two");
  Trained(Tiny(first, {"generations=1", kTwoVariants}));
  const std::string run_dir = TestFolder("refused") + "/run";
  const auto error = [&](std::vector<std::string> overrides) {
    const absl::Status status =
        Train(Tiny(run_dir, std::move(overrides))).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  EXPECT_THAT(error({"games_from=" + first + "/games.db"}),
              AllOf(HasSubstr("games.db has 6 games of other variants than the "
                              "run's (variant: sacred_hill_l1)"),
                    HasSubstr("such as variant: all")));
  const std::string empty = TestFolder("none") + "/empty.db";
  ASSERT_TRUE(record::OpenGameStore(empty, record::StoreMode::kReadWrite).ok());
  EXPECT_THAT(error({"games_from=" + empty}),
              HasSubstr("empty.db has no games; expected some to learn from"));
  EXPECT_THAT(error({"games_from=" + first}),
              AllOf(HasSubstr("games_from: "),
                    HasSubstr("expected a store such as games.db of a run")));
  EXPECT_THAT(error({"games_from=" + run_dir + "/nothing.db"}),
              HasSubstr("nothing.db"));
  EXPECT_FALSE(std::filesystem::exists(run_dir));
}

TEST(InitFromTest, ARunBeginsWithTheNetworkOfAnother) {
  const std::string first = TestFolder("generalist");
  Trained(Tiny(first, {kTwoVariants}));
  const std::string run_dir = TestFolder("specialist");
  const std::string init = "init_from=" + first;
  const auto summary = Trained(Tiny(run_dir, {"variant=high_kings_l1", init}));
  EXPECT_EQ(summary.generation, 2);
  EXPECT_EQ(nn::ReadCheckpoint(CheckpointFile(run_dir, 0)).value().progress,
            nn::TrainingProgress());
  EXPECT_EQ(WeightsOf(run_dir, 0), WeightsOf(first, 2));
  const std::string file = ReadWholeFile(CheckpointFile(first, 2)).value();
  // It is needed at the beginning alone, and its checksum is kept.
  std::filesystem::remove_all(first);
  EXPECT_TRUE(Train(Tiny(run_dir, {"variant=high_kings_l1", init})).ok());
  const auto state = RunStateFile::Open(run_dir + "/state.textproto").value();
  EXPECT_EQ(state.state().begun_with_crc32c(),
            absl::StrFormat("%08x", crc32c::Crc32c(file.data(), file.size())));
}

TEST(InitFromTest, ASmallerNetworkGrows) {
  const std::string first = TestFolder("smaller");
  Trained(Tiny(first, {"generations=1"}));
  const std::string run_dir = TestFolder("larger");
  Trained(Tiny(run_dir, {"init_from=" + first, "network.channels=12",
                         "network.blocks=2", "generations=1"}));
  const auto after = nn::ReadCheckpoint(CheckpointFile(run_dir, 1)).value();
  EXPECT_EQ(after.shape, (nn::NetworkShape{.channels = 12, .blocks = 2}));
}

TEST(InitFromTest, WhatDoesNotFitIsRefusedBeforeAnythingIsWritten) {
  const std::string first = TestFolder("other_shape");
  Trained(Tiny(first, {"generations=1"}));
  const std::string kings = TestFolder("other_rules");
  Trained(Tiny(kings, {"generations=1", "variant=high_kings_l1",
                       "rule_options=no_progress_limit=30"}));
  const std::string run_dir = TestFolder("refused") + "/run";
  const auto train = [&](std::vector<std::string> overrides) {
    return Train(Tiny(run_dir, std::move(overrides)));
  };
  EXPECT_THAT(train({"init_from=" + first, "network.channels=4"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("ckpt-000001.pt has 8 channels and 1 blocks, "
                                 "that of the config (network) 4 channels and "
                                 "1 blocks; expected no more")));
  EXPECT_THAT(train({"init_from=" + first, "variant=four_treasures"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("has not learned four_treasures; its run "
                                 "learned sacred_hill_l1")));
  EXPECT_THAT(train({"init_from=" + kings, "variant=high_kings_l1",
                     "rule_options=no_progress_limit=20"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("has not learned no_progress_limit=20 of "
                                 "high_kings_l1; its run learned "
                                 "no_progress_limit=30")));
  EXPECT_THAT(train({"init_from=" + run_dir + "/nothing.pt"}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("init_from: ")));
  EXPECT_FALSE(std::filesystem::exists(run_dir));
}

TEST(InitFromTest, ARunBeginsWithABundleThatWasExportedForLearning) {
  const std::string first = TestFolder("exported");
  Trained(Tiny(first, {"generations=1"}));
  const auto before = nn::ReadCheckpoint(CheckpointFile(first, 1)).value();
  const std::string bundle = first + "/exported.tara";
  const auto write_bundle = [&](bool for_learning) {
    const nn::BundleOptions options = {
        .made_by = "test",
        .for_learning = for_learning,
        .variants = {{.variant = Variant::kSacredHillL1, .options = {}}},
        .provenance = {}};
    ASSERT_TRUE(
        WriteFileAtomically(bundle, nn::MakeBundle(before, options).value())
            .ok());
  };
  const std::string run_dir = TestFolder("from_bundle") + "/run";
  const auto train = [&](std::vector<std::string> overrides) {
    overrides.push_back("init_from=" + bundle);
    overrides.push_back("generations=1");
    return Train(Tiny(run_dir, std::move(overrides))).status();
  };
  write_bundle(/*for_learning=*/false);
  absl::Status status = train({});
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition,
                               AllOf(HasSubstr("init_from: Bundle " + bundle),
                                     HasSubstr("made for playing alone"))));
  write_bundle(/*for_learning=*/true);
  status = train({"variant=four_treasures"});
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("has not learned four_treasures; its run learned "
                        "sacred_hill_l1"));
  EXPECT_FALSE(std::filesystem::exists(run_dir));
  EXPECT_TRUE(train({}).ok());
  const auto after = nn::ReadCheckpoint(CheckpointFile(run_dir, 0)).value();
  EXPECT_EQ(after.progress, nn::TrainingProgress());
  int compared = 0;
  for (const nn::NamedTensor& tensor : before.tensors) {
    if (nn::IsOfOptimizer(tensor.name) ||
        absl::StartsWith(tensor.name, "calibration/")) {
      continue;
    }
    const auto found = after.Find(tensor.name, tensor.shape).value();
    EXPECT_EQ(found->values, tensor.values) << tensor.name;
    ++compared;
  }
  EXPECT_GT(compared, 20);
}

}  // namespace
}  // namespace tara::train
