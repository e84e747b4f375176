#include "tara/eval/parallel_arena.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tara/core/variant.h"
#include "tara/eval/arena.h"
#include "tara/eval/player.h"
#include "tara/eval/players.h"
#include "tests/eval/test_players.h"

namespace tara {
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
}  // namespace tara
