#include "tara/train/play/self_play.h"

#include <atomic>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/evaluators/caching_evaluator.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/training/trainer.h"
#include "tara/record/game_record.h"
#include "tara/record/game_store.h"
#include "tests/mcts/fake_evaluator.h"
#include "tests/status_matchers.h"
#include "tests/train/train_testing.h"

namespace tara::train {
namespace {

using ::testing::HasSubstr;

absl::Status DropGame(const proto::GameRecord&) { return absl::OkStatus(); }

class SelfPlayOfVariantTest : public ::testing::TestWithParam<VariantInfo> {};

TEST_P(SelfPlayOfVariantTest, YieldsValidRecordsWithSearchStatistics) {
  const SelfPlayOptions options = QuickSelfPlay(GetParam().variant);
  const auto games = PlayUniformGames(options, {4, 5, 6, 7, 8, 9});
  ASSERT_EQ(games.size(), 6u);
  for (size_t i = 0; i < games.size(); ++i) {
    const proto::GameRecord& game = games[i];
    // Replays the game; also checks that visited actions are legal.
    EXPECT_THAT(record::ValidateRecord(game), IsOk());
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
  SelfPlayStats stats;
  int64_t plies = 0;
  for (const proto::GameRecord& game :
       PlayHashedGames(QuickSelfPlay(Variant::kFourTreasures), 5, stats)) {
    plies += game.steps_size();
  }
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
  ASSERT_THAT(PlayGames(options, std::vector<uint64_t>{0, 1, 2, 3, 4},
                        evaluator, DropGame, kNeverStop, stats),
              IsOk());
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
  EXPECT_THAT(PlayGames(
                  QuickSelfPlay(Variant::kSacredHillL1),
                  std::vector<uint64_t>(1000, 1), evaluator,
                  [](const proto::GameRecord&) {
                    return absl::ResourceExhaustedError("the disk is full");
                  },
                  kNeverStop, stats),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(stats.games, 0);
}

TEST(SelfPlayTest, AnErrorOfTheEvaluatorIsReturned) {
  mcts::FakeEvaluator evaluator;
  evaluator.FailAfter(5, "the backend is gone");
  SelfPlayStats stats;
  EXPECT_THAT(
      PlayGames(QuickSelfPlay(Variant::kSacredHillL1),
                std::vector<uint64_t>{0, 1, 2}, evaluator, DropGame, kNeverStop,
                stats),
      StatusIs(absl::StatusCode::kInternal, HasSubstr("backend is gone")));
}

// --- Self play cache ---------------------------------------------------------

// The evaluation cache, and symmetric positions shared by it, change no game.

class SelfPlayCacheTest : public ::testing::Test {
 protected:
  SelfPlayCacheTest() {
    const std::string path = ::testing::TempDir() + "/self_play_cache.ckpt";
    EXPECT_THAT(
        nn::NewTrainer({.channels = 4, .blocks = 1}, {}, 1)->Save(path, {}),
        IsOk());
    network_ = nn::LoadNetworkEvaluator(path).value();
    std::filesystem::remove(path);
  }

  // Returns the records of two games of each variant.
  static std::vector<std::string> Play(int threads, int games_per_thread,
                                       mcts::Evaluator& evaluator) {
    SelfPlayOptions options = QuickSelfPlay(Variant::kSacredHillL1);
    options.starts.clear();
    for (const VariantInfo& info : kVariants) {
      options.starts.push_back(InitialState(info.variant));
    }
    options.search.simulations = 12;
    options.threads = threads;
    options.games_per_thread = games_per_thread;
    SelfPlayStats stats;
    return BytesOf(PlayGamesWith(evaluator, options,
                                 IndicesTo(2 * kVariants.size()), stats));
  }

  std::unique_ptr<mcts::Evaluator> network_;
};

TEST_F(SelfPlayCacheTest, GamesAreTheSameBitForBitHoweverEvaluationsAreKept) {
  const auto expected = Play(1, 3, *network_);
  ASSERT_EQ(expected.size(), 2 * kVariants.size());
  for (const bool symmetric : {false, true}) {
    for (const int64_t positions : {0, 200, 1 << 15}) {
      for (const int threads : {1, 2}) {
        mcts::CachingEvaluator cache(
            network_.get(), mcts::CachingOptions{.positions = positions,
                                                 .symmetric = symmetric,
                                                 .margins = false});
        EXPECT_EQ(Play(threads, 5, cache), expected)
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
  EXPECT_EQ(Play(1, 8, plain), Play(1, 8, symmetric));
  EXPECT_EQ(symmetric.requests(), plain.requests());
  EXPECT_GT(symmetric.hits(), plain.hits());
}

// --- Resignation -------------------------------------------------------------

ResignationWatch Watch(float threshold, int turns, float played_on_share) {
  return ResignationWatch({.threshold = threshold,
                           .turns = turns,
                           .played_on_share = played_on_share},
                          /*seed=*/1);
}

TEST(ResignationWatchTest, TakesBadValuesAtTurnsInARowOfOneSide) {
  ResignationWatch watch = Watch(-0.9f, 3, 0);
  EXPECT_FALSE(watch.Observe(kRed, -0.95f));
  EXPECT_FALSE(watch.Observe(kBlue, 0.95f));
  EXPECT_FALSE(watch.Observe(kRed, -0.95f));
  EXPECT_FALSE(watch.Observe(kRed, -0.89f));  // not bad enough: from the start
  EXPECT_FALSE(watch.Observe(kRed, -0.95f));
  EXPECT_FALSE(watch.Observe(kRed, -0.9f));  // as much as the threshold counts
  EXPECT_FALSE(watch.Observe(kBlue, -0.95f));
  EXPECT_TRUE(watch.Observe(kRed, -1));
  EXPECT_EQ(watch.loser(), kRed);
}

TEST(ResignationWatchTest, NobodyResignsAGameThatIsPlayedOn) {
  ResignationWatch watch = Watch(-0.9f, 1, 1);
  EXPECT_TRUE(watch.played_on());
  EXPECT_FALSE(watch.Observe(kRed, -0.8f));
  EXPECT_EQ(watch.loser(), std::nullopt);
  EXPECT_FALSE(watch.Observe(kBlue, -0.95f));
  EXPECT_FALSE(watch.Observe(kRed, -1));
  EXPECT_EQ(watch.loser(), kBlue);
}

TEST(ResignationWatchTest, TheShareOfGamesPlayedOnIsDrawnByGame) {
  constexpr int kGames = 10000;
  int played_on = 0;
  for (int game = 0; game < kGames; ++game) {
    const uint64_t seed = DeriveSeed(1, game, StreamPurpose::kResignation);
    const ResignationOptions options = {.threshold = -1.0f};
    played_on += ResignationWatch(options, seed).played_on() ? 1 : 0;
  }
  EXPECT_NEAR(played_on, 0.1 * kGames, 4 * std::sqrt(kGames * 0.09));
}

}  // namespace
}  // namespace tara::train
