#include "tara/eval/regret/regret.h"

#include <algorithm>

#include "gtest/gtest.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/players/alpha_beta_player.h"
#include "tests/eval/test_players.h"

namespace tara::eval {
namespace {

TEST(SolvedPositionsTest, EveryVariantHasSomeAndSomethingIsAtStake) {
  for (const VariantInfo& info : kVariants) {
    const auto positions = MakeSolvedPositions(
        {.variant = info.variant, .positions = 3, .node_limit = 20000});
    EXPECT_EQ(positions.size(), 3u) << info.id;
    for (const SolvedPosition& position : positions) {
      EXPECT_EQ(static_cast<int>(position.margins.size()),
                LegalActions(position.state).Count());
      EXPECT_LT(
          *std::min_element(position.margins.begin(), position.margins.end()),
          *std::max_element(position.margins.begin(), position.margins.end()));
    }
  }
}

TEST(SolvedPositionsTest, MarginsAreThoseOfMinimaxForTheSideToMove) {
  bool red = false, blue = false;
  for (const SolvedPosition& position :
       MakeSolvedPositions({.variant = Variant::kFourTreasures,
                            .positions = 20,
                            .node_limit = 300})) {
    (position.state.side() == kRed ? red : blue) = true;
    size_t place = 0;
    LegalActions(position.state).ForEach([&](Action action) {
      State next = position.state;
      ApplyAction(action, next);
      const int margin = Minimax(next);
      EXPECT_EQ(position.margins[place++],
                position.state.side() == kRed ? margin : -margin);
    });
  }
  EXPECT_TRUE(red && blue);
}

TEST(RegretTest, WhoSearchesToTheEndGivesNothingAway) {
  const auto positions = MakeSolvedPositions(
      {.variant = Variant::kSacredHillL2, .positions = 20, .node_limit = 1000});
  const auto player = NewAlphaBetaPlayer({.depth = 60}, {});
  const Regret none = MeasureRegret(positions, 1, *player).value();
  EXPECT_EQ(none.positions, 20);
  EXPECT_EQ(none.points.mean, 0);
  EXPECT_EQ(none.results.mean, 0);
  EXPECT_EQ(none.best.mean, 1);
  ASSERT_TRUE(none.value_error.has_value());
  EXPECT_NEAR(none.value_error->mean, 0, 1e-6);
  EXPECT_FALSE(none.policy.has_value());
}

TEST(RegretTest, IsWhatTheBestActionWouldHaveBroughtMore) {
  const auto positions = MakeSolvedPositions(
      {.variant = Variant::kFourTreasures, .positions = 10});
  FixedPlayer first;
  double expected = 0;
  for (const SolvedPosition& position : positions) {
    expected +=
        (*std::max_element(position.margins.begin(), position.margins.end()) -
         position.margins[0]) /
        10.0;
  }
  const Regret regret = MeasureRegret(positions, 1, first).value();
  EXPECT_GT(expected, 0);
  EXPECT_NEAR(regret.points.mean, expected, 1e-12);
  EXPECT_GE(regret.points.low, 0);  // nobody can win what was not there
}

TEST(RegretTest, NoPositionsAreNoRegretAndErrorsAreReturned) {
  FixedPlayer player;
  EXPECT_EQ(MeasureRegret({}, 1, player)->positions, 0);
  player.fail = true;
  EXPECT_FALSE(
      MeasureRegret(MakeSolvedPositions({.positions = 1}), 1, player).ok());
}

}  // namespace
}  // namespace tara::eval
