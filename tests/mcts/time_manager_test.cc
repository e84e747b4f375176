#include "tara/mcts/time/time_manager.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/board.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tests/mcts/positions.h"

namespace tara::mcts {
namespace {

constexpr TimeOptions kNoMargins = {.overhead = absl::ZeroDuration(),
                                    .reserve = absl::ZeroDuration()};

TEST(TimeManagerTest, TimeByTheMoveIsThatLessTheOverhead) {
  TimeManager manager({.per_move = absl::Seconds(5)},
                      {.overhead = absl::Milliseconds(100)});
  for (const int ply : {0, 30}) {
    const MoveBudget budget = manager.BudgetFor(ply, 3);
    EXPECT_EQ(budget.target, absl::Milliseconds(4900));
    EXPECT_EQ(budget.limit, absl::Milliseconds(4900));
    manager.Spend(absl::Seconds(5));
  }
  EXPECT_FALSE(manager.overstepped());
  manager.Spend(absl::Milliseconds(5001));
  EXPECT_TRUE(manager.overstepped());
}

TEST(TimeManagerTest, ALargeOverheadLeavesHalfOfAMove) {
  const TimeManager manager({.per_move = absl::Milliseconds(10)},
                            {.overhead = absl::Milliseconds(20)});
  EXPECT_EQ(manager.BudgetFor(0, 3).limit, absl::Milliseconds(5));
}

TEST(TimeManagerTest, AMoveGetsItsShareOfTheGame) {
  // (100 s - 2 s + 19 * 1 s) / 20 - 0.1 s = 5.75 s.
  const TimeManager manager(
      {.per_game = absl::Seconds(100), .increment = absl::Seconds(1)},
      {.overhead = absl::Milliseconds(100),
       .reserve = absl::Seconds(2),
       .most_shares = 3});
  const MoveBudget budget = manager.BudgetFor(0, 20);
  EXPECT_EQ(budget.target, absl::Milliseconds(5750));
  EXPECT_EQ(budget.limit, absl::Milliseconds(3 * 5750));
}

TEST(TimeManagerTest, TheLastMovesLeaveTimeForOnesThatWereNotExpected) {
  const TimeManager manager({.per_game = absl::Seconds(90)}, kNoMargins);
  const MoveBudget budget = manager.BudgetFor(0, 1);
  EXPECT_EQ(budget.target, absl::Seconds(30));  // as if three were to come
  EXPECT_EQ(budget.limit, absl::Seconds(45));   // never more than half
}

TEST(TimeManagerTest, FreeMovesLeaveTheirTimeToTheOthers) {
  TimeOptions options = kNoMargins;
  options.free_moves = 5;
  const TimeManager manager({.per_game = absl::Seconds(150)}, options);
  EXPECT_EQ(manager.BudgetFor(0, 20).target, absl::Seconds(10));
}

TEST(TimeManagerTest, OpeningsGetAPartOfTheirShare) {
  TimeOptions options = kNoMargins;
  options.opening_plies = 4;
  options.opening_part = 0.5f;
  const TimeManager manager({.per_game = absl::Seconds(100)}, options);
  EXPECT_EQ(manager.BudgetFor(3, 10).target, absl::Seconds(5));
  EXPECT_EQ(manager.BudgetFor(4, 10).target, absl::Seconds(10));
  EXPECT_EQ(manager.BudgetFor(3, 10).limit, absl::Seconds(30));
}

TEST(TimeManagerTest, TheReserveIsAtMostATenthOfTheTime) {
  const TimeManager manager(
      {.per_game = absl::Seconds(10)},
      {.overhead = absl::ZeroDuration(), .reserve = absl::Seconds(100)});
  EXPECT_EQ(manager.BudgetFor(0, 9).target, absl::Seconds(1));
}

TEST(TimeManagerTest, AnothersClockCounts) {
  TimeManager manager({.per_game = absl::Seconds(100)}, kNoMargins);
  manager.set_left(absl::Seconds(50));
  EXPECT_EQ(manager.BudgetFor(0, 10).target, absl::Seconds(5));
}

TEST(TimeManagerTest, WithoutTimeLeftTheBudgetIsNothing) {
  TimeManager manager({.per_game = absl::Seconds(10)}, {});
  manager.Spend(absl::Seconds(11));
  EXPECT_TRUE(manager.overstepped());
  EXPECT_EQ(manager.BudgetFor(0, 10).limit, absl::ZeroDuration());
}

// Plays Red's moves of a random game. A move takes `spend` of its limit
// (`spend` draws), and then up to the overhead. Returns the manager at the end
// and the least time that was ever left.
struct Played {
  TimeManager manager;
  absl::Duration least_left = absl::InfiniteDuration();
  absl::Duration spent = absl::ZeroDuration();
  int moves = 0;
};

template <typename Spend>
Played PlayGame(Variant variant, int seed, const TimeControl& control,
                const TimeOptions& options, const Spend& spend) {
  Random random(DeriveSeed(1, seed, StreamPurpose::kTest));
  Played played = {.manager = TimeManager(control, options)};
  const std::vector<State> states = RandomGame(variant, seed);
  for (size_t ply = 0; ply + 1 < states.size(); ++ply) {
    if (states[ply].side() != kRed) continue;
    const MoveBudget budget = played.manager.BudgetFor(
        static_cast<int>(ply), ExpectedActionsLeft(states[ply]) / 2);
    EXPECT_LE(budget.target, budget.limit);
    EXPECT_GE(budget.target, absl::ZeroDuration());
    const absl::Duration time =
        spend(budget, random) + options.overhead * random.Uniform();
    played.least_left =
        std::min(played.least_left, played.manager.left() - time);
    played.manager.Spend(time);
    played.spent += time;
    ++played.moves;
  }
  return played;
}

class TimeManagerGamesTest : public testing::TestWithParam<VariantInfo> {};

TEST_P(TimeManagerGamesTest, NoGameIsLostOnTimeHoweverNoisyTheSpending) {
  for (const std::string text :
       {"300s+2s", "60s", "10s+100ms", "1s", "1s+1s"}) {
    const TimeControl control = *ParseTimeControl(text);
    for (int seed = 0; seed < 20; ++seed) {
      const Played noisy = PlayGame(
          GetParam().variant, seed, control, {},
          [](const MoveBudget& budget, Random& random) {
            return random.Below(4) == 0 ? budget.limit
                                        : budget.limit * random.Uniform();
          });
      EXPECT_FALSE(noisy.manager.overstepped()) << text;
      EXPECT_GE(noisy.least_left, absl::ZeroDuration()) << text;
      const Played greedy = PlayGame(
          GetParam().variant, seed, control, {},
          [](const MoveBudget& budget, Random&) { return budget.limit; });
      EXPECT_FALSE(greedy.manager.overstepped()) << text;
    }
  }
}

TEST_P(TimeManagerGamesTest, MostOfTheTimeIsUsed) {
  const TimeControl control = *ParseTimeControl("300s+2s");
  double used = 0;
  constexpr int kGames = 20;
  for (int seed = 0; seed < kGames; ++seed) {
    const Played played = PlayGame(
        GetParam().variant, seed, control, {},
        [](const MoveBudget& budget, Random&) { return budget.target; });
    // The increment of the last move comes too late.
    const absl::Duration had =
        control.per_game + control.increment * (played.moves - 1);
    used += absl::FDivDuration(played.spent, had) / kGames;
  }
  EXPECT_GT(used, 0.7);
  EXPECT_LE(used, 1);
}

INSTANTIATE_TEST_SUITE_P(Variants, TimeManagerGamesTest,
                         testing::ValuesIn(kVariants), VariantTestName);

TEST(TimeManagerDeathTest, APlayerHasTime) {
  EXPECT_DEATH(TimeManager({}, {}), "the time must be > 0");
  EXPECT_DEATH(TimeManager({.per_game = absl::Seconds(1)}, {.least_moves = 0}),
               "most_shares and least_moves must be >= 1");
}

}  // namespace
}  // namespace tara::mcts
