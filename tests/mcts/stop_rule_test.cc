#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/mcts/choice/choose_action.h"
#include "tara/mcts/time/time_manager.h"

namespace tara::mcts {
namespace {

// A search of so many simulations, by visits of its actions, in no time.
SearchProgress WithVisits(const std::vector<int>& visits) {
  std::vector<RootAction> actions;
  SearchProgress progress;
  for (const int count : visits) {
    actions.push_back({.action = HillAction(static_cast<Hill>(actions.size())),
                       .prior = 0.1f,
                       .visits = count,
                       .mean_value = 0});
    progress.simulations += count;
  }
  progress.new_simulations = progress.simulations;
  CountVisits(actions, progress);
  return progress;
}

TEST(StopRuleTest, TheTwoMostVisitedAreCounted) {
  const auto check = [](const std::vector<int>& visits, int most, int second) {
    const SearchProgress progress = WithVisits(visits);
    EXPECT_EQ(progress.num_actions, visits.size());
    EXPECT_EQ(progress.most_visits, most);
    EXPECT_EQ(progress.second_visits, second);
  };
  check({3, 9, 4}, 9, 4);
  check({9, 3, 9}, 9, 9);
  check({1, 2, 3}, 3, 2);
  check({7}, 7, 0);
  check({}, 0, 0);
}

TEST(StopRuleTest, AProvedRootAndASingleActionAreSettled) {
  SearchProgress progress = WithVisits({5, 5});
  EXPECT_FALSE(IsSettled(progress, {}));
  progress.root_settled = true;
  EXPECT_TRUE(IsSettled(progress, {}));
  EXPECT_TRUE(IsSettled(WithVisits({1}), {}));
  EXPECT_FALSE(IsSettled(WithVisits({0}), {}));  // not even evaluated
}

TEST(StopRuleTest, TheMostVisitedIsSettledWhenItCannotBeOvertaken) {
  const SearchLimits limits = {.simulations = 100};
  // 20 are left: the second could draw level at 60, but not at 59.
  EXPECT_FALSE(IsSettled(WithVisits({50, 30}), limits));
  EXPECT_TRUE(IsSettled(WithVisits({51, 29}), limits));
  // Without a limit nothing is settled by visits.
  EXPECT_FALSE(IsSettled(WithVisits({1000000, 0}), {}));
}

TEST(StopRuleTest, TimeLeftCountsAsTheSimulationsThatFitIntoIt) {
  const SearchLimits limits = {.time = absl::Seconds(5), .speed_margin = 1.5f};
  // 100 in 4 s: 37.5 are taken to fit into the last second.
  SearchProgress progress = WithVisits({68, 32});
  progress.elapsed = absl::Seconds(4);
  EXPECT_FALSE(IsSettled(progress, limits));
  progress = WithVisits({69, 31});
  progress.elapsed = absl::Seconds(4);
  EXPECT_TRUE(IsSettled(progress, limits));
  // Speed is that of this search alone.
  progress.new_simulations = 110;
  EXPECT_FALSE(IsSettled(progress, limits));
  // No time has passed: there is no speed.
  progress.elapsed = absl::ZeroDuration();
  EXPECT_FALSE(IsSettled(progress, limits));
}

TEST(StopRuleTest, TheTighterOfTwoLimitsSettles) {
  const SearchLimits limits = {.simulations = 110, .time = absl::Seconds(100)};
  SearchProgress progress = WithVisits({60, 40});
  progress.elapsed = absl::Seconds(1);
  EXPECT_TRUE(IsSettled(progress, limits));
}

TEST(StopRuleTest, SettlingNeverChangesTheMostVisited) {
  // Against going on to the end, with visits drawn at random.
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
      if (settled_on < 0 &&
          IsSettled(WithVisits(visits), {.simulations = 60})) {
        settled_on = most();
      }
    }
    if (settled_on >= 0) {
      EXPECT_EQ(settled_on, most()) << seed;
    }
  }
}

TEST(StopRuleTest, AMoveIsContestedWhereAnotherTriedAsMuchIsWorthMore) {
  const auto contested = [](int visits, float value) {
    SearchProgress progress;
    std::vector<RootAction> actions(3);
    actions[0].visits = 5;
    actions[0].mean_value = 0.9f;
    actions[1].visits = 60;
    actions[1].mean_value = 0.1f;
    actions[2].visits = visits;
    actions[2].mean_value = value;
    CountVisits(actions, progress);
    return progress.contested;
  };
  EXPECT_TRUE(contested(6, 0.2f));
  EXPECT_FALSE(contested(5, 0.2f));  // as the first action: hardly tried
  EXPECT_FALSE(contested(59, 0.1f));
  EXPECT_FALSE(contested(61, 0.2f));  // now that is the most visited
}

TEST(StopRuleTest, HardMovesTakeLongerThanTheTarget) {
  const absl::Duration target = absl::Seconds(2);
  EXPECT_FALSE(
      IsTargetReached({.simulations = 0, .elapsed = 2 * target}, target));
  SearchProgress progress = WithVisits({50, 40});
  progress.elapsed = absl::Seconds(1);
  EXPECT_FALSE(IsTargetReached(progress, target));
  progress.elapsed = absl::Seconds(2);
  EXPECT_TRUE(IsTargetReached(progress, target));
  progress.contested = true;
  EXPECT_FALSE(IsTargetReached(progress, target));
  // Nor do they end early: 90 in 1.9 s leave no more than 6 to come.
  progress.elapsed = absl::Milliseconds(1900);
  EXPECT_FALSE(IsTargetReached(progress, target));
  progress.contested = false;
  EXPECT_TRUE(IsTargetReached(progress, target));
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

TEST(PlayoutCapTest, AShareOfZeroIsAlwaysFast) {
  Random random(3);
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(DrawTurnSearch({.full_share = 0}, random).full);
  }
}

TEST(PlayoutCapDeathTest, ASearchHasSimulations) {
  Random random(3);
  EXPECT_DEATH(DrawTurnSearch({.fast_simulations = 0}, random),
               "simulations must be >= 1");
}

}  // namespace
}  // namespace tara::mcts
