#include "tara/train/play/self_play.h"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tara/mcts/choice/resignation.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/evaluators/caching_evaluator.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/training/trainer.h"
#include "tara/record/game_record.h"
#include "tara/record/game_store.h"
#include "tests/mcts/fake_evaluator.h"
#include "tests/train/train_testing.h"

namespace tara::train {
namespace {

using ::testing::HasSubstr;

constexpr auto kNeverStop = [] { return false; };

absl::Status DropGame(const proto::GameRecord&) { return absl::OkStatus(); }

class SelfPlayOfVariantTest : public ::testing::TestWithParam<VariantInfo> {};

TEST_P(SelfPlayOfVariantTest, YieldsValidRecordsWithSearchStatistics) {
  const SelfPlayOptions options = QuickSelfPlay(GetParam().variant);
  const auto games = PlayUniformGames(options, {4, 5, 6, 7, 8, 9});
  ASSERT_EQ(games.size(), 6u);
  for (size_t i = 0; i < games.size(); ++i) {
    const proto::GameRecord& game = games[i];
    // Replays the game; also checks that visited actions are legal.
    const absl::Status valid = record::ValidateRecord(game);
    EXPECT_TRUE(valid.ok()) << valid.message();
    EXPECT_EQ(game.game_index(), 4 + i);
    EXPECT_EQ(game.variant(), GetParam().id);
    EXPECT_EQ(game.model_id(), "uniform");
    for (const proto::Step& step : game.steps()) {
      uint32_t visits = 0;
      bool played_was_visited = false;
      for (int n = 0; n < step.visits_size(); ++n) {
        visits += step.visits(n);
        played_was_visited |= step.visited_action(n) == step.action();
      }
      EXPECT_GE(visits, 6u);
      EXPECT_TRUE(played_was_visited);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllVariants, SelfPlayOfVariantTest,
                         ::testing::ValuesIn(kVariants), VariantName);

TEST(SelfPlayTest, GamesDependOnTheirIndexAloneAndNotOnThreadsOrBatches) {
  SelfPlayOptions options = QuickSelfPlay(Variant::kSacredHillL1);
  options.threads = 1;
  options.games_per_thread = 1;
  const auto alone = PlayUniformGames(options, {11});
  options.threads = 3;
  options.games_per_thread = 4;
  const auto together = PlayUniformGames(options, {3, 11, 4, 8, 20, 21, 22});
  ASSERT_EQ(alone.size(), 1u);
  ASSERT_EQ(together.size(), 7u);
  EXPECT_EQ(alone[0].seed(), DeriveSeed(7, 11, StreamPurpose::kSelfPlay));
  EXPECT_EQ(together[3].SerializeAsString(), alone[0].SerializeAsString());
  EXPECT_NE(
      together[2].steps(0).action() * 1000 + together[2].steps(1).action(),
      alone[0].steps(0).action() * 1000 + alone[0].steps(1).action());
}

TEST(SelfPlayTest, GameIndicesGoRoundTheStartPositions) {
  SelfPlayOptions options = QuickSelfPlay(Variant::kHighKingsL1);
  RuleOptions rules;
  rules.no_progress_limit = 12;
  options.starts.push_back(InitialState(Variant::kStoneOfDestiny, rules));
  const auto games = PlayUniformGames(options, {0, 1, 2, 3});
  ASSERT_EQ(games.size(), 4u);
  EXPECT_EQ(games[0].variant(), "high_kings_l1");
  EXPECT_EQ(games[0].rule_options(), "-");
  EXPECT_EQ(games[1].variant(), "stone_of_destiny");
  EXPECT_EQ(games[1].rule_options(), "no_progress_limit=12");
  EXPECT_EQ(games[2].variant(), "high_kings_l1");
  EXPECT_EQ(games[3].variant(), "stone_of_destiny");
}

TEST(SelfPlayTest, CountsWhatItDoes) {
  mcts::UniformEvaluator evaluator;
  SelfPlayStats stats;
  std::atomic<int64_t> plies = 0;
  const absl::Status status = PlayGames(
      QuickSelfPlay(Variant::kFourTreasures),
      std::vector<uint64_t>{0, 1, 2, 3, 4}, evaluator,
      [&](const proto::GameRecord& game) {
        plies += game.steps_size();
        return absl::OkStatus();
      },
      kNeverStop, stats);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(stats.games, 5);
  EXPECT_EQ(stats.plies, plies);
  EXPECT_GE(stats.simulations, stats.evaluations);
  EXPECT_GE(stats.evaluations, stats.batches);
}

TEST(SelfPlayTest, ReportsOnceThatAllGamesHaveStarted) {
  mcts::UniformEvaluator evaluator;
  SelfPlayStats stats;
  SelfPlayOptions options = QuickSelfPlay(Variant::kSacredHillL1);
  options.threads = 2;
  options.games_per_thread = 1;
  std::atomic<int> reports = 0;
  std::atomic<int64_t> finished = 0;
  options.on_all_started = [&] {
    ++reports;
    finished = stats.games.load();
  };
  const absl::Status status =
      PlayGames(options, std::vector<uint64_t>{0, 1, 2, 3, 4}, evaluator,
                DropGame, kNeverStop, stats);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(reports, 1);
  // At most one game per thread is in progress then.
  EXPECT_GE(finished, 4);
}

TEST(SelfPlayTest, StopsCleanlyWithTheGamesFinishedSoFar) {
  mcts::UniformEvaluator evaluator;
  SelfPlayStats stats;
  std::atomic<int> finished = 0;
  SelfPlayOptions options = QuickSelfPlay(Variant::kSacredHillL1);
  options.threads = 1;
  options.games_per_thread = 1;
  const absl::Status status = PlayGames(
      options, std::vector<uint64_t>{0, 1, 2, 3}, evaluator,
      [&](const proto::GameRecord&) {
        ++finished;
        return absl::OkStatus();
      },
      [&] { return finished >= 2; }, stats);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(finished, 2);
  EXPECT_EQ(stats.games, 2);
}

TEST(SelfPlayTest, AnErrorOfTheSinkEndsAllThreads) {
  mcts::UniformEvaluator evaluator;
  SelfPlayStats stats;
  const absl::Status status = PlayGames(
      QuickSelfPlay(Variant::kSacredHillL1), std::vector<uint64_t>(1000, 1),
      evaluator,
      [](const proto::GameRecord&) {
        return absl::ResourceExhaustedError("the disk is full");
      },
      kNeverStop, stats);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(stats.games, 0);
}

TEST(SelfPlayTest, AnErrorOfTheEvaluatorIsReturned) {
  mcts::FakeEvaluator evaluator;
  evaluator.FailAfter(5, "the backend is gone");
  SelfPlayStats stats;
  const absl::Status status = PlayGames(QuickSelfPlay(Variant::kSacredHillL1),
                                        std::vector<uint64_t>{0, 1, 2},
                                        evaluator, DropGame, kNeverStop, stats);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()), HasSubstr("backend is gone"));
}

// --- Self play cache ---------------------------------------------------------

// The evaluation cache, and symmetric positions shared by it, change no game.

class SelfPlayCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string path = ::testing::TempDir() + "/self_play_cache.ckpt";
    ASSERT_TRUE(nn::NewTrainer({.channels = 4, .blocks = 1}, {}, 1)
                    ->Save(path, {})
                    .ok());
    auto network = nn::LoadNetworkEvaluator(path);
    ASSERT_TRUE(network.ok()) << network.status();
    network_ = *std::move(network);
    std::filesystem::remove(path);
  }

  // Returns the records of a game of each variant, by index.
  static std::map<uint64_t, std::string> Play(const SelfPlayOptions& options,
                                              mcts::Evaluator& evaluator) {
    std::vector<uint64_t> indices;
    for (size_t i = 0; i < 2 * kVariants.size(); ++i) indices.push_back(i);
    absl::Mutex mutex;
    std::map<uint64_t, std::string> games;
    SelfPlayStats stats;
    const absl::Status status = PlayGames(
        options, indices, evaluator,
        [&](const proto::GameRecord& game) {
          absl::MutexLock lock(&mutex);
          games[game.game_index()] = game.SerializeAsString();
          return absl::OkStatus();
        },
        [] { return false; }, stats);
    EXPECT_TRUE(status.ok()) << status;
    return games;
  }

  static SelfPlayOptions Options(int threads, int games_per_thread) {
    SelfPlayOptions options = QuickSelfPlay(Variant::kSacredHillL1);
    options.starts.clear();
    for (const VariantInfo& info : kVariants) {
      options.starts.push_back(InitialState(info.variant));
    }
    options.search.simulations = 12;
    options.search.dirichlet_fraction = 0.25f;
    options.threads = threads;
    options.games_per_thread = games_per_thread;
    return options;
  }

  std::unique_ptr<mcts::Evaluator> network_;
};

TEST_F(SelfPlayCacheTest, GamesAreTheSameBitForBitHoweverEvaluationsAreKept) {
  const auto expected = Play(Options(1, 3), *network_);
  ASSERT_EQ(expected.size(), 2 * kVariants.size());
  for (const bool symmetric : {false, true}) {
    for (const int64_t positions : {0, 200, 1 << 15}) {
      for (const int threads : {1, 2}) {
        mcts::CachingEvaluator cache(
            network_.get(), mcts::CachingOptions{.positions = positions,
                                                 .symmetric = symmetric,
                                                 .margins = false});
        EXPECT_EQ(Play(Options(threads, 5), cache), expected)
            << positions << " positions, symmetric: " << symmetric;
        EXPECT_EQ(cache.hits() > 0, positions > 0);
      }
    }
  }
}

TEST_F(SelfPlayCacheTest, SymmetricPositionsAreAskedForOnce) {
  mcts::CachingEvaluator plain(network_.get(), 1 << 15);
  mcts::CachingEvaluator symmetric(
      network_.get(),
      mcts::CachingOptions{
          .positions = 1 << 15, .symmetric = true, .margins = true});
  EXPECT_EQ(Play(Options(1, 8), plain), Play(Options(1, 8), symmetric));
  EXPECT_EQ(symmetric.requests(), plain.requests());
  EXPECT_GT(symmetric.hits(), plain.hits());
}

// --- Resignation history -----------------------------------------------------

constexpr int kIndex = 20;  // of the threshold -0.2

// Games with values that are noise, some of them resigned.
std::unique_ptr<record::GameStore> StoreWithGames(
    const SelfPlayOptions& options, uint64_t count, SelfPlayStats& stats) {
  auto store = record::OpenGameStore(TestFolder("resigned") + "/games.db",
                                     record::StoreMode::kReadWrite);
  EXPECT_TRUE(store.ok()) << store.status().message();
  std::vector<uint64_t> indices;
  for (uint64_t i = 0; i < count; ++i) indices.push_back(i);
  HashingEvaluator evaluator;
  const auto games = PlayGamesWith(evaluator, options, indices, stats);
  EXPECT_TRUE((*store)->AddAll(games).ok());
  return *std::move(store);
}

SelfPlayOptions Resigning() {
  SelfPlayOptions options = QuickSelfPlay(Variant::kSacredHillL1);
  options.resignation = {
      .threshold = -0.2f, .turns = 2, .played_on_share = 0.5f};
  return options;
}

TEST(ResignationHistoryTest, TellsOfStoredGamesWhatWasCountedAsTheyWerePlayed) {
  const SelfPlayOptions options = Resigning();
  SelfPlayStats stats;
  const auto store = StoreWithGames(options, 24, stats);
  ASSERT_GT(stats.resigned, 0);
  ASSERT_GT(stats.resignable, 0);
  const auto counts = CountResignations(*store, options.resignation,
                                        options.run_seed, 24, 1000);
  ASSERT_TRUE(counts.ok()) << counts.status().message();
  EXPECT_EQ(counts->games(), stats.played_on);
  EXPECT_EQ(counts->resigned(kIndex), stats.resignable);
  EXPECT_EQ(counts->wrong(kIndex), stats.resignable_not_lost);
  // The store can be asked for them.
  const auto statistics = store->Statistics({});
  ASSERT_TRUE(statistics.ok());
  EXPECT_EQ(statistics->at(0).ended_by.at("resigned"), stats.resigned);
}

TEST(ResignationHistoryTest, NobodyThoughtAnythingOfActionsDrawnAtRandom) {
  SelfPlayOptions options = Resigning();
  options.opening = {.share = 1, .max_plies = 6};
  options.search.proof = true;
  options.search.solver_vacant_hills = 6;
  options.end_when_proved = true;
  // A threshold that a value of 0 would meet.
  options.resignation.threshold = 0;
  SelfPlayStats stats;
  const auto store = StoreWithGames(options, 24, stats);
  const auto counts = CountResignations(*store, options.resignation,
                                        options.run_seed, 24, 1000);
  ASSERT_TRUE(counts.ok()) << counts.status().message();
  EXPECT_EQ(counts->games(), stats.played_on);
  EXPECT_EQ(counts->resigned(0), stats.resignable);
  EXPECT_EQ(counts->wrong(0), stats.resignable_not_lost);
}

TEST(ResignationHistoryTest, CountsTheNewestGamesBelowTheEnd) {
  const SelfPlayOptions options = Resigning();
  SelfPlayStats stats;
  const auto store = StoreWithGames(options, 24, stats);
  int64_t expected = 0;
  for (uint64_t index = 6; index < 16; ++index) {
    expected += mcts::IsPlayedOn(
        options.resignation,
        DeriveSeed(options.run_seed, index, StreamPurpose::kResignation));
  }
  ASSERT_GT(expected, 0);
  const auto counts =
      CountResignations(*store, options.resignation, options.run_seed, 16, 10);
  ASSERT_TRUE(counts.ok()) << counts.status().message();
  EXPECT_EQ(counts->games(), expected);
  const auto none =
      CountResignations(*store, options.resignation, options.run_seed, 0, 10);
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none->games(), 0);
}

}  // namespace
}  // namespace tara::train
