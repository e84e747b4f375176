#include <cstdint>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "proto/game.pb.h"
#include "tara/core/action.h"
#include "tara/core/symmetry.h"
#include "tara/core/variant.h"
#include "tara/train/play/self_play.h"
#include "tests/train/train_testing.h"

namespace tara::train {
namespace {

proto::GameRecord AGame(Variant variant) {
  HashingEvaluator evaluator;
  SelfPlayStats stats;
  return PlayGamesWith(evaluator, QuickSelfPlay(variant), {0}, stats).front();
}

TEST(DistinctPositionsTest, ThereAreNoneBeforeTheFirst) {
  EXPECT_EQ(DistinctPositions().share(), 0);
}

TEST(DistinctPositionsTest, AGameOfItsOwnRepeatsNothing) {
  DistinctPositions distinct;
  ASSERT_TRUE(distinct.Add(AGame(Variant::kFourTreasures)).ok());
  EXPECT_EQ(distinct.share(), 1);
}

TEST(DistinctPositionsTest, TheSameGameTwiceIsHalf) {
  const proto::GameRecord game = AGame(Variant::kSacredHillL1);
  DistinctPositions distinct;
  ASSERT_TRUE(distinct.Add(game).ok());
  ASSERT_TRUE(distinct.Add(game).ok());
  EXPECT_EQ(distinct.share(), 0.5);
}

TEST(DistinctPositionsTest, AGameTurnedAboutIsTheSame) {
  const proto::GameRecord game = AGame(Variant::kFourTreasures);
  for (const Symmetry& symmetry : PositionSymmetries(Variant::kFourTreasures)) {
    if (symmetry.seat_shift != 0) continue;
    proto::GameRecord turned = game;
    for (proto::Step& step : *turned.mutable_steps()) {
      const auto action = static_cast<Action>(step.action());
      step.Clear();  // what was searched is of the other actions
      step.set_action(
          static_cast<uint32_t>(Index(TransformAction(symmetry, action))));
    }
    DistinctPositions distinct;
    ASSERT_TRUE(distinct.Add(game).ok());
    const absl::Status added = distinct.Add(turned);
    ASSERT_TRUE(added.ok()) << added.message();
    EXPECT_EQ(distinct.share(), 0.5);
  }
}

TEST(DistinctPositionsTest, OpeningsDoNotCount) {
  const proto::GameRecord game = AGame(Variant::kSacredHillL1);
  proto::GameRecord opened = game;
  opened.set_opening_plies(static_cast<uint32_t>(game.steps_size()) - 1);
  DistinctPositions distinct;
  ASSERT_TRUE(distinct.Add(opened).ok());
  ASSERT_TRUE(distinct.Add(game).ok());
  const auto steps = static_cast<double>(game.steps_size());
  EXPECT_DOUBLE_EQ(distinct.share(), steps / (steps + 1));
}

TEST(DistinctPositionsTest, AGameThatCannotBeIsAnError) {
  proto::GameRecord game = AGame(Variant::kSacredHillL1);
  game.mutable_steps(1)->set_action(game.steps(0).action());
  DistinctPositions distinct;
  EXPECT_FALSE(distinct.Add(game).ok());
}

}  // namespace
}  // namespace tara::train
