#include <cmath>

#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/mcts/time/stop_rule.h"

namespace tara::mcts {
namespace {

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
