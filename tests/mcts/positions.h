#ifndef TARA_TESTS_MCTS_POSITIONS_H_
#define TARA_TESTS_MCTS_POSITIONS_H_

// Positions and exact answers for the tests of search.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tara/core/action.h"
#include "tara/core/rule_options.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"

namespace tara::mcts {

// Returns the legal actions as a list.
std::vector<Action> ListActions(const State& state);

// Returns the position after an action.
State After(const State& state, Action action);

// Returns all positions of a random game, the finished one last.
std::vector<State> RandomGame(Variant variant, uint64_t seed,
                              const RuleOptions& options = {});

// Returns Red's margin with best play of both sides. Plain minimax by side over
// every line to the end, by the public rules and without anything else; gives
// up (no value) after `budget` positions, which it counts down.
std::optional<int> ExactMargin(const State& state, int& budget);
// The same as the result for Red: 1 Red wins, 0 a draw, -1 Blue wins.
std::optional<int> ExactResult(const State& state, int& budget);

// A position in which some actions are better than others.
struct Problem {
  State state;
  std::vector<Action> best;  // actions with the best result for its side
};

// Returns problems from the last plies of random games, at most one a game and
// each exactly solved within `budget` positions: `count` of them, or fewer when
// `num_games` games do not hold as many.
struct ProblemSearch {
  int count;
  int num_games;
  int budget;
  RuleOptions options = {};
};
std::vector<Problem> FindProblems(Variant variant, const ProblemSearch& search);

// Names parameterized tests by variant.
std::string VariantTestName(const testing::TestParamInfo<VariantInfo>& info);

}  // namespace tara::mcts

#endif  // TARA_TESTS_MCTS_POSITIONS_H_
