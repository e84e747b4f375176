// Evaluators without networks: uniform and random playouts.

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
#include "tests/mcts/positions.h"

namespace tara::mcts {
namespace {

std::vector<Evaluation> Evaluate(Evaluator& evaluator,
                                 const std::vector<State>& states) {
  std::vector<Evaluation> evaluations(states.size());
  EXPECT_TRUE(evaluator.Evaluate(states, absl::MakeSpan(evaluations)).ok());
  return evaluations;
}

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

// Returns the earliest position of a game whose expectation is cheap to
// enumerate, if there is one.
std::optional<LatePosition> FindLatePosition(
    const std::vector<State>& game_without_end) {
  std::optional<LatePosition> late;
  for (size_t i = game_without_end.size(); i-- > 0;) {
    int budget = 3000;
    const std::optional<Expected> expected =
        ExpectedOfRandomPlay(game_without_end[i], budget);
    if (!expected.has_value()) break;
    late = LatePosition{game_without_end[i], *expected};
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
    const std::vector<Evaluation> evaluations = Evaluate(*evaluator, states);
    for (size_t i = 0; i < states.size(); ++i) {
      const Evaluation& evaluation = evaluations[i];
      const size_t legal = ListActions(states[i]).size();
      EXPECT_EQ(evaluation.priors,
                std::vector<float>(legal, 1.0f / static_cast<float>(legal)));
      EXPECT_NEAR(evaluation.win + evaluation.draw + evaluation.loss, 1, 1e-6);
    }
  }
}

TEST_P(EvaluatorsTest, UniformHoldsEveryGameEven) {
  UniformEvaluator uniform;
  for (const Evaluation& evaluation : Evaluate(uniform, GameWithoutEnd(2))) {
    EXPECT_EQ(evaluation.value(), 0);
    EXPECT_EQ(evaluation.margin, 0);
  }
}

TEST_P(EvaluatorsTest, MarginsOfPlayoutsAgreeWithTheirResults) {
  PlayoutEvaluator playouts(7, 3);
  for (const Evaluation& evaluation : Evaluate(playouts, GameWithoutEnd(5))) {
    ASSERT_EQ(evaluation.margins.size(), kNumMargins);
    float win = 0;
    float loss = 0;
    float mean = 0;
    for (int margin = 1; margin <= kMaxMargin; ++margin) {
      const float ahead = evaluation.margins[kMaxMargin + margin];
      const float behind = evaluation.margins[kMaxMargin - margin];
      win += ahead;
      loss += behind;
      mean += static_cast<float>(margin) * (ahead - behind);
    }
    EXPECT_NEAR(win, evaluation.win, 1e-6);
    EXPECT_NEAR(evaluation.margins[kMaxMargin], evaluation.draw, 1e-6);
    EXPECT_NEAR(loss, evaluation.loss, 1e-6);
    EXPECT_NEAR(mean, evaluation.margin, 1e-5);
  }
}

TEST_P(EvaluatorsTest, PlayoutsAreWonAndLostByTheCompensation) {
  PlayoutEvaluator playouts(7, 3);
  std::vector<State> states = GameWithoutEnd(5);
  for (State& state : states) state.options.compensation_halves = 6;
  const std::vector<Evaluation> evaluations = Evaluate(playouts, states);
  for (size_t i = 0; i < states.size(); ++i) {
    std::array<float, 3> results = {};  // lost, drawn, won
    for (int margin = -kMaxMargin; margin <= kMaxMargin; ++margin) {
      results[1 + ResultForMover(states[i], margin)] +=
          evaluations[i].margins[kMaxMargin + margin];
    }
    EXPECT_NEAR(evaluations[i].loss, results[0], 1e-6);
    EXPECT_NEAR(evaluations[i].draw, results[1], 1e-6);
    EXPECT_NEAR(evaluations[i].win, results[2], 1e-6);
  }
}

TEST_P(EvaluatorsTest, UniformForgetsTheMarginsOfAReusedResult) {
  UniformEvaluator uniform;
  std::vector<Evaluation> results(1);
  results[0].margins.assign(kNumMargins, 0.5f);
  const std::vector<State> states = {GameWithoutEnd(1)[0]};
  ASSERT_TRUE(uniform.Evaluate(states, absl::MakeSpan(results)).ok());
  EXPECT_TRUE(results[0].margins.empty());
}

TEST_P(EvaluatorsTest, PlayoutsApproachTheExactExpectationNearTheEnd) {
  constexpr int kPlayouts = 4000;
  PlayoutEvaluator playouts(kPlayouts, 9);
  int found = 0;
  for (uint64_t seed = 0; seed < 50 && found < 5; ++seed) {
    const std::optional<LatePosition> late =
        FindLatePosition(GameWithoutEnd(seed));
    if (!late.has_value()) continue;
    ++found;
    const auto& [state, expected] = *late;
    const bool is_red = state.side() == kRed;
    const Evaluation evaluation = Evaluate(playouts, {state})[0];
    // Four and a half standard errors of a proportion, at most.
    const auto tolerance = [](double p) {
      return 4.5 * std::sqrt(std::abs(p * (1 - p)) / kPlayouts) + 1e-6;
    };
    EXPECT_NEAR(evaluation.win, is_red ? expected.win : expected.loss,
                tolerance(expected.win) + tolerance(expected.loss));
    EXPECT_NEAR(evaluation.loss, is_red ? expected.loss : expected.win,
                tolerance(expected.win) + tolerance(expected.loss));
    // Margins of one position near the end spread over a few points.
    EXPECT_NEAR(evaluation.margin, is_red ? expected.margin : -expected.margin,
                0.5);
  }
  EXPECT_EQ(found, 5);
}

TEST_P(EvaluatorsTest, PlayoutsAreExactWhereEveryLineEndsAlike) {
  // Last positions from which every line has the same winner.
  PlayoutEvaluator playouts(5, 1);
  int decided = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const State state = GameWithoutEnd(seed).back();
    int budget = 3000;
    const std::optional<Expected> expected =
        ExpectedOfRandomPlay(state, budget);
    if (!expected.has_value()) continue;
    // Sums of 1/n, so 1 but for rounding.
    const bool red_won = expected->win > 1 - 1e-9;
    if (!red_won && expected->loss < 1 - 1e-9) continue;
    ++decided;
    const bool won = red_won == (state.side() == kRed);
    const Evaluation evaluation = Evaluate(playouts, {state})[0];
    EXPECT_EQ(evaluation.win, won ? 1 : 0);
    EXPECT_EQ(evaluation.loss, won ? 0 : 1);
  }
  EXPECT_GT(decided, 0);
}

TEST_P(EvaluatorsTest, PlayoutsOfAPositionDoNotDependOnTheBatch) {
  PlayoutEvaluator playouts(2, 5);
  const std::vector<State> states = GameWithoutEnd(4);
  const std::vector<Evaluation> together = Evaluate(playouts, states);
  for (size_t i = 0; i < states.size(); i += 5) {
    const Evaluation alone = Evaluate(playouts, {states[i]})[0];
    EXPECT_EQ(alone.win, together[i].win);
    EXPECT_EQ(alone.margin, together[i].margin);
  }
}

TEST_P(EvaluatorsTest, PlayoutsDependOnTheSeed) {
  PlayoutEvaluator one(1, 1);
  PlayoutEvaluator two(1, 2);
  const std::vector<State> states = GameWithoutEnd(4);
  std::vector<float> margins[2];
  for (const Evaluation& e : Evaluate(one, states)) {
    margins[0].push_back(e.margin);
  }
  for (const Evaluation& e : Evaluate(two, states)) {
    margins[1].push_back(e.margin);
  }
  EXPECT_NE(margins[0], margins[1]);
}

}  // namespace
}  // namespace tara::mcts
