// The search finds what an exact minimax finds, in every variant.

#include <algorithm>
#include <vector>

#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/mcts/choice/choose_action.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/mcts/search/many_games.h"
#include "tara/mcts/tree/tree.h"
#include "tests/mcts/positions.h"

namespace tara::mcts {
namespace {

class EndgameTest : public testing::TestWithParam<VariantInfo> {};

INSTANTIATE_TEST_SUITE_P(AllVariants, EndgameTest, testing::ValuesIn(kVariants),
                         VariantTestName);

Action SearchedAction(const State& state, int simulations) {
  UniformEvaluator evaluator;
  Tree tree({.simulations = simulations}, state, 1);
  EXPECT_TRUE(RunSearches({&tree}, evaluator).ok());
  Random random(DeriveSeed(1, 0, StreamPurpose::kTest));
  return ChooseAction(tree.root_actions(), {}, random);
}

TEST_P(EndgameTest, TheSearchPlaysTheLastPliesAsMinimaxDoes) {
  const std::vector<Problem> problems = FindProblems(
      GetParam().variant, {.count = 25, .num_games = 1000, .budget = 400});
  int of_red = 0;
  for (const Problem& problem : problems) {
    of_red += problem.state.side() == kRed;
    const Action action = SearchedAction(problem.state, 3000);
    EXPECT_NE(std::find(problem.best.begin(), problem.best.end(), action),
              problem.best.end())
        << ActionToText(action);
  }
  // Enough of both sides that a search with an eye for one fails.
  EXPECT_GE(of_red, 5);
  EXPECT_GE(static_cast<int>(problems.size()) - of_red, 5);
}

// Where 3.5 points are given, other actions are the best ones.
TEST_P(EndgameTest, TheSearchKnowsWhatACompensationMakesOfAMargin) {
  int problems = 0;
  int others = 0;  // that are none without compensation, or have other answers
  for (const int8_t halves : {7, -7}) {
    for (const Problem& problem :
         FindProblems(GetParam().variant,
                      {.count = 10,
                       .num_games = 1000,
                       .budget = 400,
                       .options = {.compensation_halves = halves}})) {
      ++problems;
      const Action action = SearchedAction(problem.state, 3000);
      EXPECT_NE(std::find(problem.best.begin(), problem.best.end(), action),
                problem.best.end())
          << ActionToText(action);
      State plain = problem.state;
      plain.options.compensation_halves = 0;
      int budget = 400;
      int plain_budget = 400;
      others += ExactResult(plain, plain_budget) !=
                ExactResult(problem.state, budget);
    }
  }
  EXPECT_GE(problems, 10);
  EXPECT_GT(others, 0);
}

TEST(StoneOfDestinyEndgameTest, SwapsAreFollowedByALinkOfTheSameSide) {
  // What the suite above sees of turns of two actions: values that changed
  // sides with every ply would get these wrong.
  int two_actions = 0;
  for (const Problem& problem :
       FindProblems(Variant::kStoneOfDestiny,
                    {.count = 25, .num_games = 1000, .budget = 400})) {
    const State next = After(problem.state, problem.best[0]);
    two_actions += !next.finished() && next.side() == problem.state.side();
  }
  EXPECT_GE(two_actions, 3);
}

}  // namespace
}  // namespace tara::mcts
