#include "tara/core/random_action.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"

namespace tara {
namespace {

TEST(RandomActionTest, DrawsEachLegalActionAboutAsOften) {
  const State state = InitialState(Variant::kSacredHillL1);
  const int legal = LegalActions(state).Count();
  constexpr int kDrawsEach = 400;
  std::array<int, kNumActions> drawn = {};
  Random random(1);
  for (int i = 0; i < kDrawsEach * legal; ++i) {
    ++drawn[Index(RandomAction(state, random))];
  }
  for (int action = 0; action < kNumActions; ++action) {
    if (!LegalActions(state).Contains(static_cast<Action>(action))) {
      EXPECT_EQ(drawn[action], 0);
      continue;
    }
    // Six standard deviations of a binomial count with a mean of 400.
    EXPECT_NEAR(drawn[action], kDrawsEach, 120);
  }
}

TEST(RandomPositionsTest, AreWholeGamesFromEachStart) {
  const std::vector<State> starts = {InitialState(Variant::kFourTreasures),
                                     InitialState(Variant::kHighKingsL2)};
  Random random(2);
  const std::vector<State> positions = RandomPositions(starts, 1, random);
  ASSERT_GE(positions.size(), 2u);
  EXPECT_EQ(positions.front(), starts[0]);
  int begun = 0;
  for (const State& position : positions) {
    EXPECT_FALSE(position.finished());
    begun += position == starts[0] || position == starts[1];
  }
  EXPECT_EQ(begun, 2);
}

}  // namespace
}  // namespace tara
