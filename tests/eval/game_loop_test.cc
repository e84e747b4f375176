#include <atomic>
#include <set>

#include "absl/synchronization/mutex.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/eval/test_players.h"

namespace tara::eval {
namespace {

using ::testing::Each;

// What became of games.
struct Results {
  absl::Mutex mutex;
  std::vector<std::pair<uint64_t, std::vector<Action>>> games;
  int forfeits = 0;
};

// A game of the loop's first player with itself, or of two players. It is
// begun again, with another number, as often as is wished.
class TestGame : public PlayedGame {
 public:
  TestGame(uint64_t number, Results* results, int players, int repetitions = 0)
      : PlayedGame(number, InitialState(Variant::kFourTreasures), number),
        results_(results),
        repetitions_(repetitions) {
    if (players == 2) this->players = {0, 1};
  }

  absl::StatusOr<std::unique_ptr<PlayedGame>> Finish() override {
    absl::MutexLock lock(&results_->mutex);
    results_->games.emplace_back(number, actions);
    if (forfeited_by.has_value()) ++results_->forfeits;
    if (number == 666) return absl::DataLossError("cannot be kept");
    if (repetitions_ == 0) return nullptr;
    return std::make_unique<TestGame>(number + 1000, results_, 1,
                                      repetitions_ - 1);
  }

 private:
  Results* const results_;
  const int repetitions_;
};

// Hands out so many games. Thread-safe.
GameSource Games(int count, Results* results, int players = 1,
                 int repetitions = 0) {
  auto next = std::make_shared<std::atomic<uint64_t>>(0);
  return [=]() -> absl::StatusOr<std::unique_ptr<PlayedGame>> {
    const uint64_t number = (*next)++;
    if (number >= static_cast<uint64_t>(count)) return nullptr;
    return std::make_unique<TestGame>(number, results, players, repetitions);
  };
}

bool GoOn() { return true; }

// Notes which games it was told the end of.
class NotingPlayer : public FixedPlayer {
 public:
  void EndGame(uint64_t game) override { ended.insert(game); }

  std::set<uint64_t> ended;
};

TEST(GameLoopTest, APlayerIsAskedAboutAllItsGamesAtOnce) {
  Results results;
  NotingPlayer player;
  ASSERT_EQ(PlayGames({.games = 4}, {&player}, Games(4, &results), GoOn),
            absl::OkStatus());
  EXPECT_THAT(player.batches, Each(4u));  // games that are all alike
  EXPECT_EQ(results.games.size(), 4u);
  EXPECT_EQ(player.ended, (std::set<uint64_t>{0, 1, 2, 3}));
}

TEST(GameLoopTest, EachPlayerIsAskedForItsOwnSide) {
  Results results;
  FixedPlayer first;
  FixedPlayer second(/*last=*/true);
  ASSERT_EQ(
      PlayGames({.games = 2}, {&first, &second}, Games(3, &results, 2), GoOn),
      absl::OkStatus());
  for (const State& state : first.seen) EXPECT_EQ(state.side(), kRed);
  for (const State& state : second.seen) EXPECT_EQ(state.side(), kBlue);
  EXPECT_EQ(results.games.size(), 3u);
}

TEST(GameLoopTest, AGameMayBeginAnotherInItsPlace) {
  Results results;
  NotingPlayer player;
  ASSERT_EQ(PlayGames({.games = 1}, {&player}, Games(2, &results, 1, 1), GoOn),
            absl::OkStatus());
  std::vector<uint64_t> order;
  for (const auto& [number, actions] : results.games) order.push_back(number);
  EXPECT_EQ(order, (std::vector<uint64_t>{0, 1000, 1, 1001}));
}

TEST(GameLoopTest, WhoGivesAGameUpHasForfeitedIt) {
  Results results;
  QuittingPlayer player(10);
  ASSERT_EQ(PlayGames({.games = 1}, {&player}, Games(2, &results), GoOn),
            absl::OkStatus());
  EXPECT_EQ(results.forfeits, 2);
  for (const auto& [number, actions] : results.games) {
    EXPECT_EQ(actions.size(), 9u);
  }
}

TEST(GameLoopTest, WhatIsStoppedIsDroppedAndForgotten) {
  Results results;
  NotingPlayer player;
  int rounds = 0;
  ASSERT_EQ(PlayGames({.games = 2}, {&player}, Games(9, &results),
                      [&] { return ++rounds < 3; }),
            absl::OkStatus());
  EXPECT_EQ(player.batches.size(), 3u);
  EXPECT_TRUE(results.games.empty());
  EXPECT_EQ(player.ended, (std::set<uint64_t>{0, 1}));
}

TEST(GameLoopTest, ThreadsPlayTheSameGames) {
  std::vector<std::pair<uint64_t, std::vector<Action>>> expected;
  for (const int threads : {1, 2, 5}) {
    Results results;
    ASSERT_EQ(PlayGamesOnThreads({.games = 3}, {Factory("random")}, threads,
                                 Games(20, &results), GoOn),
              absl::OkStatus());
    std::sort(results.games.begin(), results.games.end());
    if (threads == 1) expected = results.games;
    ASSERT_EQ(results.games.size(), 20u);
    EXPECT_EQ(results.games, expected) << threads;
  }
}

TEST(GameLoopTest, TheFirstErrorEndsAllThreads) {
  Results results;
  // More games than could ever be played.
  EXPECT_EQ(PlayGamesOnThreads({.games = 2}, {Factory("random")}, 3,
                               Games(1 << 30, &results), GoOn),
            absl::DataLossError("cannot be kept"));
  const absl::Status missing = absl::NotFoundError("nobody there");
  EXPECT_EQ(PlayGamesOnThreads({}, {FailingFactory(missing)}, 2,
                               Games(1, &results), GoOn),
            missing);
}

}  // namespace
}  // namespace tara::eval
