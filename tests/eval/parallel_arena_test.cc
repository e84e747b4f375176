#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tara/core/variant.h"
#include "tara/eval/arena/arena.h"
#include "tara/eval/arena/arena_result.h"
#include "tara/eval/players/player.h"
#include "tara/eval/statistics/sprt.h"
#include "tests/eval/test_players.h"

namespace tara::eval {
namespace {

absl::StatusOr<std::unique_ptr<Player>> MakeRandom() {
  return NewRandomPlayer();
}

absl::StatusOr<std::unique_ptr<Player>> MakeGreedy() {
  return NewGreedyPlayer();
}

std::vector<int> Margins(const ArenaResult& result) {
  std::vector<int> margins;
  for (const ArenaGame& game : result.played) margins.push_back(game.margin);
  return margins;
}

TEST(ParallelArenaTest, TheNumberOfThreadsDoesNotChangeTheResult) {
  const ArenaOptions options = {
      .variant = Variant::kHighKingsL2, .games = 22, .seed = 3};
  const std::unique_ptr<Player> random = NewRandomPlayer();
  const std::unique_ptr<Player> greedy = NewGreedyPlayer();
  const auto alone = PlayArena(options, *random, *greedy);
  ASSERT_TRUE(alone.ok()) << alone.status();
  // More threads than pairs, too.
  for (const int threads : {1, 2, 3, 7, 50}) {
    const auto result =
        PlayArenaInParallel(options, MakeRandom, MakeGreedy, threads);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(Margins(*result), Margins(*alone)) << threads;
    EXPECT_EQ(result->score, alone->score);
    EXPECT_EQ(result->elo_low, alone->elo_low);
  }
}

TEST(ParallelArenaTest, TheNumberOfThreadsDoesNotChangeMatches) {
  const ArenaOptions options = {.variant = Variant::kSacredHillDoublesL1,
                                .by_match = true,
                                .games = 50,
                                .seed = 3};
  const std::unique_ptr<Player> random = NewRandomPlayer();
  const std::unique_ptr<Player> greedy = NewGreedyPlayer();
  const auto alone = PlayArena(options, *random, *greedy);
  ASSERT_TRUE(alone.ok()) << alone.status();
  EXPECT_EQ(alone->matches.matches, 14);
  for (const int threads : {1, 3, 50}) {
    const auto result =
        PlayArenaInParallel(options, MakeRandom, MakeGreedy, threads);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(Margins(*result), Margins(*alone)) << threads;
    EXPECT_EQ(result->matches.score_low, alone->matches.score_low);
    EXPECT_EQ(result->matches.mean_lead, alone->matches.mean_lead);
  }
}

TEST(ParallelArenaTest, ASequentialTestEndsTheArenaTheSameOnAnyThreads) {
  // Greedy beats random by far more than 50 Elo.
  const ArenaOptions options = {.games = 10000,
                                .sprt = SprtOptions{.elo0 = 0, .elo1 = 50}};
  const auto alone = PlayArenaInParallel(options, MakeGreedy, MakeRandom, 1);
  ASSERT_TRUE(alone.ok()) << alone.status();
  ASSERT_TRUE(alone->sprt.has_value());
  EXPECT_EQ(alone->sprt->decision(), SprtDecision::kAcceptH1);
  EXPECT_LT(alone->games, 1000);
  EXPECT_EQ(alone->games, 2 * alone->sprt->pairs());
  for (const int threads : {2, 5}) {
    const auto result =
        PlayArenaInParallel(options, MakeGreedy, MakeRandom, threads);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(Margins(*result), Margins(*alone)) << threads;
    EXPECT_EQ(result->sprt->llr(), alone->sprt->llr());
  }
  const auto reversed = PlayArenaInParallel(options, MakeRandom, MakeGreedy, 2);
  EXPECT_EQ(reversed->sprt->decision(), SprtDecision::kAcceptH0);
}

TEST(ParallelArenaTest, ATestOfMatchesCountsPairsOfMatches) {
  const auto result =
      PlayArenaInParallel({.by_match = true,
                           .games = 40,
                           .sprt = SprtOptions{.elo0 = 0, .elo1 = 1}},
                          MakeGreedy, MakeRandom, 2);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->sprt->decision(), SprtDecision::kUndecided);
  EXPECT_EQ(result->sprt->pairs(), 10);
  int half_points = 0;
  for (int i = 0; i < 5; ++i) half_points += i * result->sprt->counts()[i];
  EXPECT_EQ(half_points, 2 * result->matches.wins + result->matches.draws);
}

TEST(ParallelArenaTest, AnImpossibleTestIsRefused) {
  const auto result = PlayArenaInParallel(
      {.sprt = SprtOptions{.elo0 = 5, .elo1 = 0}}, MakeRandom, MakeRandom, 1);
  EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(ParallelArenaTest, AnArenaGoesOnWhereItWasBrokenOff) {
  for (const bool by_match : {false, true}) {
    const ArenaOptions options = {.by_match = by_match, .games = 40, .seed = 6};
    const auto whole = PlayArenaInParallel(options, MakeRandom, MakeGreedy, 2);
    ASSERT_TRUE(whole.ok()) << whole.status();
    ArenaOptions part = options;
    std::vector<ArenaGame> stored;
    part.concurrent_games = 3;
    part.on_game = [&](const proto::GameRecord& game) {
      stored.push_back(ArenaGameOf(game));
      return absl::OkStatus();
    };
    const auto broken_off = PlayArenaInParallel(
        part, MakeRandom, MakeGreedy, 1, [&](const ArenaProgress& progress) {
          return progress.games_done < 17;
        });
    ASSERT_TRUE(broken_off.ok()) << broken_off.status();
    ASSERT_GE(stored.size(), 17u);
    ASSERT_LT(stored.size(), 25u);
    ArenaOptions rest = options;
    rest.earlier = stored;
    int played = 0;
    rest.on_game = [&](const proto::GameRecord&) {
      ++played;
      return absl::OkStatus();
    };
    const auto resumed = PlayArenaInParallel(rest, MakeRandom, MakeGreedy, 2);
    ASSERT_TRUE(resumed.ok()) << resumed.status();
    EXPECT_EQ(Margins(*resumed), Margins(*whole)) << by_match;
    EXPECT_EQ(resumed->score_low, whole->score_low);
    // Nothing is played again but matches that were under way.
    EXPECT_GE(played, 40 - static_cast<int>(stored.size()));
    EXPECT_LE(played, 40 - static_cast<int>(stored.size()) + 3 * by_match);
  }
}

TEST(ParallelArenaTest, AnErrorOfWhoeverIsToldOfGamesEndsTheArena) {
  const auto result = PlayArenaInParallel(
      {.games = 1000000,
       .on_game =
           [](const proto::GameRecord&) {
             return absl::ResourceExhaustedError("disk full");
           }},
      MakeRandom, MakeRandom, 2);
  EXPECT_EQ(result.status(), absl::ResourceExhaustedError("disk full"));
}

TEST(ParallelArenaTest, ProgressIsOfAllThreads) {
  std::atomic<int> most = 0;
  const auto result = PlayArenaInParallel(
      {.games = 40}, MakeRandom, MakeRandom, 4,
      [&](const ArenaProgress& progress) {
        EXPECT_EQ(progress.games, 40);
        int seen = most;
        while (seen < progress.games_done &&
               !most.compare_exchange_weak(seen, progress.games_done)) {
        }
        return true;
      });
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(most, 40);
}

TEST(ParallelArenaTest, AllThreadsStopWhenToldTo) {
  const auto result = PlayArenaInParallel(
      {.games = 1000000}, MakeRandom, MakeRandom, 3,
      [&](const ArenaProgress& progress) { return progress.games_done < 10; });
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_LT(result->games, 1000000);
  EXPECT_EQ(result->games % 2, 0);
}

TEST(ParallelArenaTest, TheFirstErrorEndsTheMatch) {
  const auto fails_to_make = [] {
    return absl::StatusOr<std::unique_ptr<Player>>(
        absl::NotFoundError("no such player"));
  };
  EXPECT_EQ(
      PlayArenaInParallel({.games = 1000000}, MakeRandom, fails_to_make, 3)
          .status(),
      absl::NotFoundError("no such player"));
  // One thread's player fails, the others' would go on for long.
  std::atomic<int> made = 0;
  const auto one_fails = [&]() -> absl::StatusOr<std::unique_ptr<Player>> {
    auto player = std::make_unique<FixedPlayer>();
    player->fail = made++ == 0;
    return player;
  };
  EXPECT_EQ(PlayArenaInParallel({.games = 1000000}, MakeRandom, one_fails, 3)
                .status(),
            absl::InternalError("told to fail"));
  EXPECT_EQ(PlayArenaInParallel({.games = 0}, MakeRandom, MakeRandom, 2)
                .status()
                .code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace tara::eval
