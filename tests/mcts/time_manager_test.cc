#include "tara/mcts/time/time_manager.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
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

TEST(TimeControlTest, ReadsTimePerMove) {
  const absl::StatusOr<TimeControl> control = ParseTimeControl("5s/move");
  ASSERT_TRUE(control.ok()) << control.status();
  EXPECT_TRUE(control->is_per_move());
  EXPECT_EQ(*control, (TimeControl{.per_move = absl::Seconds(5)}));
}

TEST(TimeControlTest, ReadsTimePerGameAndIncrement) {
  const absl::StatusOr<TimeControl> control = ParseTimeControl("300s+2s");
  ASSERT_TRUE(control.ok()) << control.status();
  EXPECT_FALSE(control->is_per_move());
  EXPECT_EQ(*control, (TimeControl{.per_game = absl::Seconds(300),
                                   .increment = absl::Seconds(2)}));
  EXPECT_EQ(*ParseTimeControl("300s"),
            (TimeControl{.per_game = absl::Seconds(300)}));
  EXPECT_EQ(*ParseTimeControl("300s+0s"), *ParseTimeControl("300s"));
}

TEST(TimeControlTest, ReadsUnitsAndFractions) {
  EXPECT_EQ(ParseTimeControl("1m30s+250ms")->per_game, absl::Seconds(90));
  EXPECT_EQ(ParseTimeControl("1m30s+250ms")->increment,
            absl::Milliseconds(250));
  EXPECT_EQ(ParseTimeControl("0.5s/move")->per_move, absl::Milliseconds(500));
  EXPECT_EQ(ParseTimeControl("1h")->per_game, absl::Hours(1));
}

TEST(TimeControlTest, ErrorsNameTheTextThePartAndWhatIsExpected) {
  const absl::Status status = ParseTimeControl("300s+2").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "bad time control '300s+2': increment is '2', not a time such as "
            "500ms, 5s or 1m30s; expected TIME/move, TIME or TIME+INCREMENT, "
            "such as 5s/move or 300s+2s");
  const auto message = [](const std::string& text) {
    const absl::Status bad = ParseTimeControl(text).status();
    const std::string start = "bad time control '" + text + "': ";
    EXPECT_EQ(bad.message().substr(0, start.size()), start);
    const std::string rest(bad.message().substr(start.size()));
    return rest.substr(0, rest.find(';'));
  };
  EXPECT_EQ(message(""), "no time for the game");
  EXPECT_EQ(message("/move"), "no time for a move");
  EXPECT_EQ(message("5s+"), "no increment");
  EXPECT_EQ(message("0s/move"), "time for a move is '0s', not more than 0");
  EXPECT_EQ(message("0s+2s"), "time for the game is '0s', not more than 0");
  EXPECT_EQ(message("200h"), "time for the game is '200h', above 100h");
}

TEST(TimeControlTest, WhatIsNoTimeIsRefused) {
  for (const std::string text :
       {"5",        "0",       "-5s",        "+5s",         "inf",
        "inf/move", "5s/game", "5s/move+2s", "5s+2s+1s",    "5s +2s",
        " 5s",      "5s ",     "5x",         ".5s",         "5ns",
        "5us",      "5s/",     "s",          "5 s",         "1e3s",
        "5S",       "5s+-1s",  "5s+inf",     "5s/move/move"}) {
    EXPECT_FALSE(ParseTimeControl(text).ok()) << text;
  }
}

class GameLengthTest : public testing::TestWithParam<VariantInfo> {};

TEST_P(GameLengthTest, IsAboutWhatRandomGamesLast) {
  double error = 0;
  double bias = 0;
  double plies = 0;
  double start_bias = 0;
  constexpr int kGames = 100;
  for (int game = 0; game < kGames; ++game) {
    const std::vector<State> states = RandomGame(GetParam().variant, game);
    for (size_t i = 0; i + 1 < states.size(); ++i) {
      const auto left = static_cast<double>(states.size() - 1 - i);
      const double expected = ExpectedActionsLeft(states[i]);
      EXPECT_GE(expected, 1);
      error += std::abs(expected - left);
      bias += expected - left;
      plies += 1;
      if (i == 0) start_bias += expected - left;
    }
  }
  const double length = plies / kGames;
  EXPECT_LT(std::abs(start_bias / kGames), 0.05 * length);
  EXPECT_LT(std::abs(bias / plies), 0.05 * length);
  EXPECT_LT(error / plies, 0.15 * length);
}

INSTANTIATE_TEST_SUITE_P(Variants, GameLengthTest, testing::ValuesIn(kVariants),
                         VariantTestName);

TEST(GameLengthTest, AFinishedGameLastsNoLonger) {
  const State end = RandomGame(Variant::kFourTreasures, 1).back();
  ASSERT_TRUE(end.finished());
  EXPECT_EQ(ExpectedActionsLeft(end), 0);
}

}  // namespace
}  // namespace tara::mcts
