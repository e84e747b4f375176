#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/mcts/time/time_manager.h"
#include "tests/mcts/positions.h"

namespace tara::mcts {
namespace {

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
