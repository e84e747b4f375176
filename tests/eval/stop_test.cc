// Searches that would take days end when games are stopped, whoever thinks.

#include "tara/base/stop.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tara/eval/arena/arena.h"
#include "tara/eval/arena/arena_openings.h"
#include "tara/eval/players/make_player.h"
#include "tara/eval/players/player_spec.h"
#include "tara/eval/players/team.h"
#include "tara/eval/regret/regret.h"

namespace tara::eval {
namespace {

// True when it has been asked so often: in the midst of a search.
class SomeAsks {
 public:
  StopCheck check() {
    return [this] { return asks_.fetch_add(1) >= 50; };
  }
  bool asked() const { return asks_ >= 50; }

 private:
  std::atomic<int> asks_ = 0;
};

PlayerFactory Factory(const std::string& spec) {
  return NewPlayerFactory(ParseTeamSpec(spec).value());
}

// Each of them is given days for an action.
const std::vector<std::string>& Specs() {
  static const auto* const specs = new std::vector<std::string>{
      "mcts:sims=16000000",
      "mcts:sims=16000000,leaves=8",
      "mcts:sims=16000000,gumbel=on",
      "mcts:sims=16000000,threads=2",
      "mcts:ms=3600000",
      "mcts:ms=3600000,threads=2",
      "alphabeta:depth=100",
      "alphabeta:ms=3600000",
      "engine:tests/eval/fake_engine --fault hang,start=3000,move=3000"};
  return *specs;
}

TEST(StopTest, EndsAnArenaWhoeverThinks) {
  for (const std::string& spec : Specs()) {
    for (const int threads : {1, 3}) {
      SCOPED_TRACE(spec);
      SomeAsks stop;
      const absl::StatusOr<ArenaResult> result =
          PlayArenaInParallel({.variant = Variant::kFourTreasures,
                               .games = 12,
                               .concurrent_games = 2,
                               .stop = stop.check()},
                              Factory(spec), Factory(spec), threads);
      ASSERT_TRUE(result.ok()) << result.status();
      EXPECT_TRUE(stop.asked());
      EXPECT_EQ(result->games, 0);
    }
  }
}

TEST(StopTest, EndsGamesWithClocks) {
  for (const std::string& spec : Specs()) {
    SCOPED_TRACE(spec);
    SomeAsks stop;
    const absl::StatusOr<ArenaResult> result = PlayArenaInParallel(
        {.variant = Variant::kFourTreasures,
         .games = 2,
         .clocks = GameClocks{.control = {.per_game = absl::Hours(1000)}},
         .stop = stop.check()},
        Factory(spec), Factory(spec), 1);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->games, 0);
  }
}

TEST(StopTest, EndsTeams) {
  SomeAsks stop;
  const std::string spec = "random+mcts:sims=16000000";
  ArenaOptions options = {.variant = Variant::kSacredHillDoublesL1,
                          .games = 8,
                          .stop = stop.check()};
  const TeamSpec team = ParseTeamSpec(spec).value();
  SetTeams(team, team, options);
  const absl::StatusOr<ArenaResult> result = PlayArenaInParallel(
      options, NewPlayerFactory(team), NewPlayerFactory(team), 1);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->games, 0);
}

TEST(StopTest, EndsTheJudgeOfOpenings) {
  SomeAsks stop;
  const absl::StatusOr<ArenaResult> result = PlayArenaInParallel(
      {.variant = Variant::kFourTreasures,
       .games = 4,
       .opening_judge = NewOpeningJudge(Factory("mcts:sims=16000000")().value(),
                                        stop.check()),
       .stop = stop.check()},
      Factory("random"), Factory("random"), 1);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->games, 0);
}

// What a thread thinks about is broken off when another one ends the games.
TEST(StopTest, OneThreadsEndEndsTheOthersChoices) {
  std::atomic<int> made = 0;
  const PlayerFactory one_thinks = [&]() {
    return made++ == 0 ? Factory("mcts:sims=16000000")() : Factory("random")();
  };
  std::atomic<int> games = 0;
  const absl::StatusOr<ArenaResult> result = PlayArenaInParallel(
      {.variant = Variant::kFourTreasures,
       .games = 1000,
       .concurrent_games = 1},
      one_thinks, Factory("random"), 2, [&](const ArenaProgress& progress) {
        games = progress.games_done;
        return games < 10;
      });
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_GE(games, 10);
}

TEST(StopTest, EndsGamesOfAPlayerWithItself) {
  for (const std::string& spec : Specs()) {
    SCOPED_TRACE(spec);
    SomeAsks stop;
    int games = 0;
    ArenaOptions options = {.variant = Variant::kFourTreasures,
                            .games = 16,
                            .opening_plies = 0,
                            .drawn_plies = 8,
                            .self_play = true,
                            .concurrent_games = 4,
                            .stop = stop.check()};
    options.on_game = [&](const proto::GameRecord&) {
      ++games;
      return absl::OkStatus();
    };
    const absl::StatusOr<ArenaResult> result =
        PlayArenaInParallel(options, Factory(spec), Factory(spec), 2);
    EXPECT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(games, 0);
  }
}

TEST(StopTest, EndsTheMeasurementOfRegret) {
  const std::vector<SolvedPosition> positions =
      MakeSolvedPositions({.positions = 2});
  const std::unique_ptr<Player> player =
      Factory("mcts:sims=16000000")().value();
  EXPECT_TRUE(absl::IsCancelled(
      MeasureRegret(positions, 1, *player, [] { return true; }).status()));
}

}  // namespace
}  // namespace tara::eval
