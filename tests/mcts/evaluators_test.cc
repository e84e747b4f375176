// Evaluators without networks: uniform and random playouts.

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tests/mcts/fake_evaluator.h"
#include "tests/mcts/positions.h"

namespace tara::mcts {
namespace {

// What random play leads to, by enumeration, for Red.
struct Expected {
  double win = 0;
  double loss = 0;
  double margin = 0;
};

// Returns no value where there are more than `budget` positions to see.
std::optional<Expected> ExpectedOfRandomPlay(const State& state, int& budget) {
  if (state.finished()) {
    const int margin = Score(state).margin();
    return Expected{margin > 0 ? 1.0 : 0.0, margin < 0 ? 1.0 : 0.0,
                    static_cast<double>(margin)};
  }
  if (--budget < 0) return std::nullopt;
  const std::vector<Action> actions = ListActions(state);
  const auto n = static_cast<double>(actions.size());
  Expected sum;
  for (const Action action : actions) {
    const std::optional<Expected> expected =
        ExpectedOfRandomPlay(After(state, action), budget);
    if (!expected.has_value()) return std::nullopt;
    sum.win += expected->win / n;
    sum.loss += expected->loss / n;
    sum.margin += expected->margin / n;
  }
  return sum;
}

struct LatePosition {
  State state;
  Expected expected;
};

// Returns the positions of a game whose expectation is cheap to enumerate, the
// last one first.
std::vector<LatePosition> LatePositions(
    const std::vector<State>& game_without_end) {
  std::vector<LatePosition> late;
  for (size_t i = game_without_end.size(); i-- > 0;) {
    int budget = 3000;
    const std::optional<Expected> expected =
        ExpectedOfRandomPlay(game_without_end[i], budget);
    if (!expected.has_value()) break;
    late.push_back({game_without_end[i], *expected});
  }
  return late;
}

class EvaluatorsTest : public testing::TestWithParam<VariantInfo> {
 protected:
  std::vector<State> GameWithoutEnd(uint64_t seed) const {
    std::vector<State> states = RandomGame(GetParam().variant, seed);
    states.pop_back();
    return states;
  }
};

INSTANTIATE_TEST_SUITE_P(AllVariants, EvaluatorsTest,
                         testing::ValuesIn(kVariants), VariantTestName);

TEST_P(EvaluatorsTest, DistributionsSumToOneAndPriorsAreUniform) {
  const std::vector<State> states = GameWithoutEnd(1);
  UniformEvaluator uniform;
  PlayoutEvaluator playouts(3, 1);
  for (Evaluator* evaluator : std::vector<Evaluator*>{&uniform, &playouts}) {
    const std::vector<Evaluation> evaluations = EvaluateAll(*evaluator, states);
    for (size_t i = 0; i < states.size(); ++i) {
      const Evaluation& evaluation = evaluations[i];
      const size_t legal = ListActions(states[i]).size();
      EXPECT_EQ(evaluation.priors,
                std::vector<float>(legal, 1.0f / static_cast<float>(legal)));
      EXPECT_NEAR(evaluation.win + evaluation.draw + evaluation.loss, 1, 1e-6);
    }
  }
}

TEST_P(EvaluatorsTest, UniformHoldsEveryGameEvenAlsoInAReusedResult) {
  UniformEvaluator uniform;
  const std::vector<State> states = GameWithoutEnd(2);
  Evaluation used;
  used.margins.assign(kNumMargins, 0.5f);
  std::vector<Evaluation> results(states.size(), used);
  ASSERT_TRUE(uniform.Evaluate(states, absl::MakeSpan(results)).ok());
  for (const Evaluation& evaluation : results) {
    EXPECT_EQ(evaluation.value(), 0);
    EXPECT_EQ(evaluation.margin, 0);
    EXPECT_TRUE(evaluation.margins.empty());
  }
}

TEST_P(EvaluatorsTest, MarginsOfPlayoutsAgreeWithTheirResults) {
  PlayoutEvaluator playouts(7, 3);
  for (const int8_t halves : {0, 6}) {
    std::vector<State> states = GameWithoutEnd(5);
    for (State& state : states) state.options.compensation_halves = halves;
    const std::vector<Evaluation> evaluations = EvaluateAll(playouts, states);
    for (size_t i = 0; i < states.size(); ++i) {
      const Evaluation& evaluation = evaluations[i];
      ASSERT_EQ(evaluation.margins.size(), kNumMargins);
      std::array<float, 3> results = {};  // lost, drawn, won
      float mean = 0;
      for (int margin = -kMaxMargin; margin <= kMaxMargin; ++margin) {
        const float chance = evaluation.margins[kMaxMargin + margin];
        results[1 + ResultForMover(states[i], margin)] += chance;
        mean += static_cast<float>(margin) * chance;
      }
      EXPECT_NEAR(evaluation.loss, results[0], 1e-6);
      EXPECT_NEAR(evaluation.draw, results[1], 1e-6);
      EXPECT_NEAR(evaluation.win, results[2], 1e-6);
      EXPECT_NEAR(evaluation.margin, mean, 1e-5);
    }
  }
}

// Exactly where every line from there ends alike, as it often does from the
// last position of a game.
TEST_P(EvaluatorsTest, PlayoutsApproachTheExactExpectationNearTheEnd) {
  constexpr int kPlayouts = 4000;
  PlayoutEvaluator playouts(kPlayouts, 9);
  int found = 0;
  int decided = 0;
  for (uint64_t seed = 0; seed < 50 && found < 5; ++seed) {
    const std::vector<LatePosition> all = LatePositions(GameWithoutEnd(seed));
    if (all.empty()) continue;
    ++found;
    for (const auto& [state, expected] : {all.front(), all.back()}) {
      const bool is_red = state.side() == kRed;
      const Evaluation evaluation = EvaluateOne(playouts, state);
      // Four and a half standard errors of a proportion, at most.
      const auto tolerance = [](double p) {
        return 4.5 * std::sqrt(std::abs(p * (1 - p)) / kPlayouts) + 1e-6;
      };
      EXPECT_NEAR(evaluation.win, is_red ? expected.win : expected.loss,
                  tolerance(expected.win) + tolerance(expected.loss));
      EXPECT_NEAR(evaluation.loss, is_red ? expected.loss : expected.win,
                  tolerance(expected.win) + tolerance(expected.loss));
      // Margins of one position near the end spread over a few points.
      EXPECT_NEAR(evaluation.margin,
                  is_red ? expected.margin : -expected.margin, 0.5);
      decided += std::max(expected.win, expected.loss) > 1 - 1e-9;
    }
  }
  EXPECT_EQ(found, 5);
  EXPECT_GT(decided, 0);
}

TEST_P(EvaluatorsTest, PlayoutsOfAPositionDoNotDependOnTheBatch) {
  PlayoutEvaluator playouts(2, 5);
  const std::vector<State> states = GameWithoutEnd(4);
  const std::vector<Evaluation> together = EvaluateAll(playouts, states);
  for (size_t i = 0; i < states.size(); i += 5) {
    EXPECT_TRUE(EvaluateOne(playouts, states[i]) == together[i]);
  }
}

TEST_P(EvaluatorsTest, PlayoutsDependOnTheSeed) {
  PlayoutEvaluator one(1, 1);
  PlayoutEvaluator two(1, 2);
  const std::vector<State> states = GameWithoutEnd(4);
  EXPECT_FALSE(EvaluateAll(one, states) == EvaluateAll(two, states));
}

}  // namespace
}  // namespace tara::mcts
