#include "tara/mcts/time/time_manager.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/mcts/choice/choose_action.h"
#include "tests/mcts/positions.h"

namespace tara::mcts {
namespace {

constexpr TimeOptions kNoMargins = {.overhead = absl::ZeroDuration(),
                                    .reserve = absl::ZeroDuration()};

TEST(TimeManagerTest, TimeByTheMoveIsThatLessTheOverhead) {
  TimeManager manager({.per_move = absl::Seconds(5)},
                      {.overhead = absl::Milliseconds(100)});
  for (int move = 0; move < 2; ++move) {
    const MoveBudget budget = manager.BudgetFor(3);
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
  EXPECT_EQ(manager.BudgetFor(3).limit, absl::Milliseconds(5));
}

TEST(TimeManagerTest, AMoveGetsItsShareOfTheGame) {
  // (100 s - 2 s + 19 * 1 s) / 20 - 0.1 s = 5.75 s.
  const TimeManager manager(
      {.per_game = absl::Seconds(100), .increment = absl::Seconds(1)},
      {.overhead = absl::Milliseconds(100), .reserve = absl::Seconds(2)});
  const MoveBudget budget = manager.BudgetFor(20);
  EXPECT_EQ(budget.target, absl::Milliseconds(5750));
  EXPECT_EQ(budget.limit, absl::Milliseconds(3 * 5750));
}

TEST(TimeManagerTest, TheLastMovesLeaveTimeForOnesThatWereNotExpected) {
  const TimeManager manager({.per_game = absl::Seconds(90)}, kNoMargins);
  const MoveBudget budget = manager.BudgetFor(1);
  EXPECT_EQ(budget.target, absl::Seconds(30));  // as if three were to come
  EXPECT_EQ(budget.limit, absl::Seconds(45));   // never more than half
}

TEST(TimeManagerTest, TheReserveIsAtMostATenthOfTheTime) {
  const TimeManager manager(
      {.per_game = absl::Seconds(10)},
      {.overhead = absl::ZeroDuration(), .reserve = absl::Seconds(100)});
  EXPECT_EQ(manager.BudgetFor(9).target, absl::Seconds(1));
}

TEST(TimeManagerTest, AnothersClockCounts) {
  TimeManager manager({.per_game = absl::Seconds(100)}, kNoMargins);
  manager.set_left(absl::Seconds(50));
  EXPECT_EQ(manager.BudgetFor(10).target, absl::Seconds(5));
}

TEST(TimeManagerTest, WithoutTimeLeftTheBudgetIsNothing) {
  TimeManager manager({.per_game = absl::Seconds(10)}, {});
  manager.Spend(absl::Seconds(11));
  EXPECT_TRUE(manager.overstepped());
  EXPECT_EQ(manager.BudgetFor(10).limit, absl::ZeroDuration());
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
    const MoveBudget budget =
        played.manager.BudgetFor(ExpectedActionsLeft(states[ply]) / 2);
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
}

TEST(TimeControlTest, ReadsTimesWithUnits) {
  const std::vector<std::pair<std::string, TimeControl>> controls = {
      {"5s/move", {.per_move = absl::Seconds(5)}},
      {"0.5s/move", {.per_move = absl::Milliseconds(500)}},
      {"300s", {.per_game = absl::Seconds(300)}},
      {"300s+0s", {.per_game = absl::Seconds(300)}},
      {"1h", {.per_game = absl::Hours(1)}},
      {"1m30s+250ms",
       {.per_game = absl::Seconds(90), .increment = absl::Milliseconds(250)}}};
  for (const auto& [text, control] : controls) {
    const absl::StatusOr<TimeControl> read = ParseTimeControl(text);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(*read, control) << text;
    EXPECT_EQ(read->is_per_move(), text.ends_with("/move"));
  }
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

// A search that has so far given its actions these visits, all of them its own.
class StopRuleTest : public testing::Test {
 protected:
  void SetVisits(const std::vector<int>& visits) {
    actions_.clear();
    progress_.simulations = 0;
    for (const int count : visits) {
      actions_.push_back(
          {.action = HillAction(static_cast<Hill>(actions_.size())),
           .prior = 0.1f,
           .visits = count,
           .mean_value = 0});
      progress_.simulations += count;
    }
    progress_.actions = actions_;
  }

  std::vector<RootAction> actions_;
  SearchProgress progress_;
};

TEST_F(StopRuleTest, AProvedRootAndASingleActionAreSettled) {
  SetVisits({5, 5});
  EXPECT_FALSE(IsSettled(progress_, absl::Seconds(1)));
  progress_.root_settled = true;
  EXPECT_TRUE(IsSettled(progress_, absl::Seconds(1)));
  progress_.root_settled = false;
  SetVisits({1});
  EXPECT_TRUE(IsSettled(progress_, absl::Seconds(1)));
}

TEST_F(StopRuleTest, TheMostVisitedIsSettledWhenItCannotBeOvertaken) {
  // 100 in 4 s: 25 fit into the last second, and are taken for 30.
  progress_.elapsed = absl::Seconds(4);
  for (const auto& [visits, settled] :
       std::vector<std::pair<std::vector<int>, bool>>{{{65, 35}, false},
                                                      {{35, 65}, false},
                                                      {{66, 34}, true},
                                                      {{1, 33, 66}, true},
                                                      {{50, 0, 50}, false}}) {
    SetVisits(visits);
    EXPECT_EQ(IsSettled(progress_, absl::Seconds(5)), settled);
  }
  // Speed is that of this search alone.
  SetVisits({66, 34});
  progress_.simulations = 110;
  EXPECT_FALSE(IsSettled(progress_, absl::Seconds(5)));
  // No time has passed: there is no speed.
  progress_.elapsed = absl::ZeroDuration();
  EXPECT_FALSE(IsSettled(progress_, absl::Seconds(5)));
}

TEST_F(StopRuleTest, SettlingNeverChangesTheMostVisited) {
  // Against going on to the end, with visits drawn at random, one a second.
  for (int seed = 0; seed < 200; ++seed) {
    Random random(DeriveSeed(1, seed, StreamPurpose::kTest));
    std::vector<int> visits(3);
    int settled_on = -1;
    const auto most = [&visits] {
      return static_cast<int>(std::max_element(visits.begin(), visits.end()) -
                              visits.begin());
    };
    for (int i = 0; i < 60; ++i) {
      ++visits[random.Below(4) % 3];
      SetVisits(visits);
      progress_.elapsed = absl::Seconds(i + 1);
      if (settled_on < 0 && IsSettled(progress_, absl::Seconds(60))) {
        settled_on = most();
      }
    }
    if (settled_on >= 0) {
      EXPECT_EQ(settled_on, most()) << seed;
    }
  }
}

TEST_F(StopRuleTest, HardMovesTakeLongerThanTheTarget) {
  const absl::Duration target = absl::Seconds(2);
  SetVisits({50, 40});
  progress_.elapsed = absl::Seconds(1);
  EXPECT_FALSE(IsTargetReached(progress_, target));
  progress_.elapsed = absl::Seconds(2);
  EXPECT_TRUE(IsTargetReached(progress_, target));
  // 90 in 1.9 s leave no more than 6 to come.
  progress_.elapsed = absl::Milliseconds(1900);
  EXPECT_TRUE(IsTargetReached(progress_, target));
  // Contested by another action that was tried as much and is worth more.
  actions_[1].mean_value = 0.2f;
  EXPECT_FALSE(IsTargetReached(progress_, target));
  progress_.elapsed = 2 * target;
  EXPECT_FALSE(IsTargetReached(progress_, target));
  actions_[1].visits = 4;  // hardly tried
  EXPECT_TRUE(IsTargetReached(progress_, target));
  actions_[1].visits = 51;  // now it is the most visited
  EXPECT_TRUE(IsTargetReached(progress_, target));
}

TEST(PlayoutCapTest, AShareOfTheTurnsIsSearchedInFull) {
  constexpr int kTurns = 10000;
  const PlayoutCapOptions options = {
      .full_share = 0.25f, .full_simulations = 600, .fast_simulations = 100};
  Random random(DeriveSeed(1, 0, StreamPurpose::kTest));
  int full = 0;
  for (int i = 0; i < kTurns; ++i) {
    const TurnSearch search = DrawTurnSearch(options, random);
    EXPECT_EQ(search.simulations, search.full ? 600 : 100);
    full += search.full ? 1 : 0;
  }
  EXPECT_NEAR(full, kTurns / 4, 4 * std::sqrt(kTurns * 0.25 * 0.75));
}

TEST(PlayoutCapTest, SwitchedOffItIsAlwaysFullAndDrawsNothing) {
  Random random(3);
  Random untouched(3);
  for (int i = 0; i < 20; ++i) {
    const TurnSearch search = DrawTurnSearch({.full_simulations = 50}, random);
    EXPECT_TRUE(search.full);
    EXPECT_EQ(search.simulations, 50);
  }
  EXPECT_EQ(random(), untouched());
}

TEST(PlayoutCapDeathTest, ASearchHasSimulations) {
  Random random(3);
  EXPECT_DEATH(DrawTurnSearch({.fast_simulations = 0}, random),
               "simulations must be >= 1");
}

}  // namespace
}  // namespace tara::mcts
