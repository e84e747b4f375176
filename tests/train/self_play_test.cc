#include "tara/train/play/self_play.h"

#include <atomic>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/record/game_record.h"
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

}  // namespace
}  // namespace tara::train
