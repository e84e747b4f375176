#include "tara/eval/alpha_beta/hand_evaluation.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tara/core/position_text.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/symmetry.h"
#include "tara/core/variant.h"
#include "tests/mcts/positions.h"

namespace tara::eval {
namespace {

using mcts::RandomGame;
using mcts::VariantTestName;

class HandEvaluationTest : public testing::TestWithParam<VariantInfo> {};

INSTANTIATE_TEST_SUITE_P(AllVariants, HandEvaluationTest,
                         testing::ValuesIn(kVariants), VariantTestName);

constexpr int kGames = 12;

TEST_P(HandEvaluationTest, SymmetricPositionsAreJudgedAlike) {
  for (uint64_t seed = 0; seed < kGames; ++seed) {
    for (const State& state : RandomGame(GetParam().variant, seed)) {
      if (state.finished()) continue;
      const int value = HandEvaluation(state);
      for (const Symmetry& symmetry : PositionSymmetries(state.variant)) {
        const bool swaps_colours = (symmetry.seat_shift & 1) != 0;
        EXPECT_EQ(HandEvaluation(TransformState(symmetry, state)),
                  swaps_colours ? -value : value)
            << PositionToText(state);
      }
    }
  }
}

TEST_P(HandEvaluationTest, EvaluationsLieWithinTheirBounds) {
  int largest = 0;
  for (uint64_t seed = 0; seed < kGames; ++seed) {
    for (const State& state : RandomGame(GetParam().variant, seed)) {
      if (state.finished()) continue;
      largest = std::max(largest, std::abs(HandEvaluation(state)));
      EXPECT_GE(HandStage(state), 0);
      EXPECT_LE(HandStage(state), kFirstStage);
    }
  }
  EXPECT_LE(largest, kMaxHandEvaluation);
  EXPECT_GT(largest, 1000);  // somebody is ahead in some position
}

TEST_P(HandEvaluationTest, TheStageOnlyFallsWhereNothingIsTakenBack) {
  const std::vector<State> game = RandomGame(GetParam().variant, 1);
  EXPECT_EQ(HandStage(game[0]), kFirstStage);
  for (size_t i = 1; i < game.size(); ++i) {
    EXPECT_LE(HandStage(game[i]), HandStage(game[i - 1]));
  }
}

TEST_P(HandEvaluationTest, EveryNamedFeatureOccursAndNoOther) {
  std::set<int> seen;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    for (const State& state : RandomGame(GetParam().variant, seed)) {
      if (state.finished()) continue;
      const HandFeatures features = ComputeHandFeatures(state);
      for (int i = 0; i < kNumHandFeatures; ++i) {
        if (features[i] != 0) seen.insert(i);
      }
    }
  }
  for (const int feature : seen) {
    EXPECT_FALSE(HandFeatureName(GetParam().variant, feature).empty())
        << feature;
  }
  for (int i = kNumSharedFeatures; i < kNumHandFeatures; ++i) {
    const absl::string_view name = HandFeatureName(GetParam().variant, i);
    EXPECT_EQ(!name.empty(), seen.contains(i)) << name;
  }
}

int Feature(const State& state, absl::string_view name) {
  const HandFeatures features = ComputeHandFeatures(state);
  for (int i = 0; i < kNumHandFeatures; ++i) {
    if (HandFeatureName(state.variant, i) == name) return features[i];
  }
  ADD_FAILURE() << "no feature " << name;
  return 0;
}

State PositionAfter(Variant variant,
                    const std::vector<absl::string_view>& actions) {
  State state = InitialState(variant);
  for (const absl::string_view action : actions) {
    EXPECT_TRUE(PlayAction(action, state).ok()) << action;
  }
  return state;
}

TEST(HandFeaturesTest, CountsAreOfRedMinusBlue) {
  // . . . . .        Four Treasures, ranks 4 to 2, files C to F:
  // C D E F          rank 4: red C, blue F; rank 3: blue E; rank 2: red C, D
  const State state = PositionAfter(Variant::kFourTreasures,
                                    {"C4", "E3", "C2", "F4", "D2", "G4"});
  EXPECT_EQ(Feature(state, "tempo"), 1);
  EXPECT_EQ(Feature(state, "odd_tempo"), 1);     // 39 vacant hills
  EXPECT_EQ(Feature(state, "kingdoms"), 2 - 2);  // C4, C2+D2; E3, F4+G4
  EXPECT_EQ(Feature(state, "territory"), 0);
  EXPECT_EQ(Feature(state, "bridges"), 1 - 1);
  EXPECT_EQ(Feature(state, "open_lines"), 1 - 0);      // C4-C3-C2
  EXPECT_EQ(Feature(state, "safe_diagonals"), 0 - 1);  // E3, F4: E4, F3
  EXPECT_EQ(Feature(state, "on_edge"), 0 - 1);         // G4
  EXPECT_EQ(Feature(state, "knight_pairs"), 1 - 1);    // C4-D2; E3-G4
  EXPECT_EQ(Feature(state, "free_singles"), 1 - 1);    // C4; E3
}

TEST(HandFeaturesTest, BesiegedSinglesAreLost) {
  const State state = PositionAfter(Variant::kFourTreasures,
                                    {"D4", "B1", "A4", "B2", "D1", "A3"});
  // Blue's B2, A3 and Red's A4: A4's neighbours are A3, B4, A5.
  EXPECT_EQ(Feature(state, "singles_lost"), 0);
  const State next =
      PositionAfter(Variant::kFourTreasures, {"A2", "A3", "D4", "B2", "E4"});
  // Red's A2 has the neighbours A3 and B2, both Blue's.
  EXPECT_EQ(Feature(next, "singles_lost"), 1);
}

}  // namespace
}  // namespace tara::eval
