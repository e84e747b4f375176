// The solver says what plain minimax says, in every variant.

#include "tara/mcts/solver/endgame_solver.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/base/casts.h"
#include "absl/container/flat_hash_map.h"
#include "gtest/gtest.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/position_text.h"
#include "tara/core/rule_options.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tests/core/core_testing.h"
#include "tests/mcts/positions.h"

namespace tara::mcts {
namespace {

using StateWords = std::array<uint64_t, 8>;

struct SolvedPosition {
  State state;
  int red_margin;
};

// Positions of a random game that minimax solves within the budget, from the
// last one back.
std::vector<SolvedPosition> SmallPositions(Variant variant,
                                           const RuleOptions& options,
                                           uint64_t seed, int budget) {
  std::vector<State> game = RandomGame(variant, seed, options);
  std::vector<SolvedPosition> solved;
  for (; !game.empty(); game.pop_back()) {
    int left = budget;
    const std::optional<int> margin = ExactMargin(game.back(), left);
    if (!margin.has_value()) break;
    solved.push_back({.state = game.back(), .red_margin = *margin});
  }
  return solved;
}

// What the random positions of a test are worth: a test in which all games
// are decided before they are solved would show nothing.
struct Coverage {
  int positions = 0;
  int red_to_move = 0;
  int draws = 0;
  int changed = 0;  // best play does not end as the position stands
};

// Solves small positions of `games` random games and compares.
Coverage CompareWithMinimax(Variant variant, const RuleOptions& options,
                            EndgameSolver& solver, int games, int budget) {
  Coverage coverage;
  for (int seed = 0; seed < games; ++seed) {
    for (const SolvedPosition& position : SmallPositions(
             variant, options, static_cast<uint64_t>(seed), budget)) {
      const std::optional<int> margin = solver.SolveRedMargin(position.state);
      EXPECT_EQ(margin, position.red_margin) << PositionToText(position.state);
      ++coverage.positions;
      coverage.red_to_move +=
          !position.state.finished() && position.state.side() == kRed;
      coverage.draws += position.red_margin == 0;
      coverage.changed += position.red_margin != Score(position.state).margin();
    }
  }
  return coverage;
}

class EndgameSolverTest : public testing::TestWithParam<VariantInfo> {};

INSTANTIATE_TEST_SUITE_P(AllVariants, EndgameSolverTest,
                         testing::ValuesIn(kVariants), tara::VariantTestName);

TEST_P(EndgameSolverTest, AgreesWithMinimaxOnThousandsOfPositions) {
  EndgameSolver solver;
  const Coverage coverage =
      CompareWithMinimax(GetParam().variant, {}, solver, 500, 1000);
  EXPECT_GE(coverage.positions, 1000);
  EXPECT_GE(coverage.red_to_move, 200);
  EXPECT_GE(coverage.changed, 100);
}

TEST_P(EndgameSolverTest, AgreesWithMinimaxUnderEveryRuleOption) {
  EndgameSolver solver;
  for (const RuleOptions& options : EachRuleOption(GetParam())) {
    const Coverage coverage =
        CompareWithMinimax(GetParam().variant, options, solver, 40, 500);
    EXPECT_GE(coverage.positions, 70) << FormatRuleOptions(options);
  }
}

TEST_P(EndgameSolverTest, AgreesWithMinimaxHoweverSmallTheTable) {
  // A few buckets: nearly every entry is thrown out before it is asked for.
  EndgameSolver solver({.table_bytes = 0});
  EXPECT_GE(
      CompareWithMinimax(GetParam().variant, {}, solver, 40, 1000).positions,
      100);
}

TEST_P(EndgameSolverTest, KnowsAllBestActionsAndTheMarginOfEach) {
  EndgameSolver solver;
  int choices = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    for (const SolvedPosition& position :
         SmallPositions(GetParam().variant, {}, seed, 300)) {
      const State& state = position.state;
      const auto solution = solver.Solve(state);
      const auto values = solver.SolveActions(state);
      ASSERT_TRUE(solution.has_value() && values.has_value());
      EXPECT_EQ(solution->red_margin, position.red_margin);
      std::vector<Action> best;
      size_t i = 0;
      for (const Action action : ListActions(state)) {
        int budget = 300;
        const int margin = *ExactMargin(After(state, action), budget);
        ASSERT_LT(i, values->size());
        EXPECT_EQ((*values)[i].action, action);
        EXPECT_EQ((*values)[i].red_margin, margin);
        if (margin == position.red_margin) best.push_back(action);
        ++i;
      }
      EXPECT_EQ(i, values->size());
      EXPECT_EQ(solution->best_actions, best) << PositionToText(state);
      choices += best.size() < values->size();
    }
  }
  EXPECT_GE(choices, 10);
}

// As ExactMargin, but solves each position once: for endings of High Kings,
// whose kings wander.
std::optional<int> MinimaxOnce(const State& state, size_t max_states,
                               absl::flat_hash_map<StateWords, int>& solved) {
  if (state.finished()) return Score(state).margin();
  const auto words = absl::bit_cast<StateWords>(state);
  const auto found = solved.find(words);
  if (found != solved.end()) return found->second;
  if (solved.size() >= max_states) return std::nullopt;
  std::optional<int> best;
  for (const Action action : ListActions(state)) {
    const std::optional<int> value =
        MinimaxOnce(After(state, action), max_states, solved);
    if (!value.has_value()) return std::nullopt;
    if (!best.has_value()) best = value;
    best = state.side() == kRed ? std::max(*best, *value)
                                : std::min(*best, *value);
  }
  solved.emplace(words, *best);
  return best;
}

class HighKingsSolverTest : public testing::TestWithParam<Variant> {};

INSTANTIATE_TEST_SUITE_P(Levels, HighKingsSolverTest,
                         testing::Values(Variant::kHighKingsL1,
                                         Variant::kHighKingsL2));

TEST_P(HighKingsSolverTest, WhatIsKnownForOneCountHoldsForTheOthers) {
  // One solver is asked for the same positions with every number of actions
  // without progress, from few to many and from many to few, so that it meets
  // what it found out for another number.
  int positions = 0;
  int counts_matter = 0;
  for (const int limit : {1, 2, 3, 5, 8, 12}) {
    RuleOptions options;
    options.no_progress_limit = static_cast<uint8_t>(limit);
    for (uint64_t seed = 0; seed < 25; ++seed) {
      const std::vector<SolvedPosition> game =
          SmallPositions(GetParam(), options, 1000 * seed + limit, 2000);
      State state = game.back().state;  // the earliest of them
      if (state.finished()) continue;
      EndgameSolver upwards;
      EndgameSolver downwards;
      std::vector<std::optional<int>> expected;
      for (int count = 0; count < limit; ++count) {
        state.no_progress = static_cast<uint8_t>(count);
        absl::flat_hash_map<StateWords, int> solved;
        expected.push_back(MinimaxOnce(state, 10'000, solved));
        if (!expected.back().has_value()) continue;
        ++positions;
        counts_matter += expected.back() != expected.front();
        EXPECT_EQ(upwards.SolveRedMargin(state), expected.back())
            << PositionToText(state);
      }
      for (int count = limit - 1; count >= 0; --count) {
        state.no_progress = static_cast<uint8_t>(count);
        const std::optional<int> margin = expected[static_cast<size_t>(count)];
        if (!margin.has_value()) continue;
        EXPECT_EQ(downwards.SolveRedMargin(state), margin)
            << PositionToText(state);
      }
    }
  }
  EXPECT_GE(positions, 300);
  EXPECT_GE(counts_matter, 5);
}

TEST(EndgameSolverLimitTest, GivesUpAtTheNodeLimitWithSoundBounds) {
  EndgameSolver unlimited({.table_bytes = 1 << 24});
  for (uint64_t seed = 0; seed < 10; ++seed) {
    State state;
    for (const State& each : RandomGame(Variant::kFourTreasures, seed)) {
      if (Count(each.vacant()) >= 9) state = each;
    }
    const int margin = *unlimited.SolveRedMargin(state);
    EndgameSolver limited({.node_limit = 400});
    EXPECT_EQ(limited.SolveRedMargin(state), std::nullopt);
    EXPECT_LE(limited.progress().nodes, 400);
    EXPECT_LE(limited.progress().low, margin);
    EXPECT_GE(limited.progress().high, margin);
    EXPECT_FALSE(limited.Solve(state).has_value());
    EXPECT_FALSE(limited.SolveActions(state).has_value());
  }
}

TEST(EndgameSolverLimitTest, AnAbandonedSolveLeavesNothingFalseBehind) {
  // Each attempt stops somewhere else and keeps what it has found out.
  EndgameSolver unlimited({.table_bytes = 1 << 24});
  for (uint64_t seed = 0; seed < 5; ++seed) {
    State state;
    for (const State& each : RandomGame(Variant::kSacredHillL1, seed)) {
      if (Count(each.vacant()) >= 9) state = each;
    }
    EndgameSolver limited({.node_limit = 300});
    std::optional<int> margin;
    for (int i = 0; i < 1000 && !margin.has_value(); ++i) {
      margin = limited.SolveRedMargin(state);
    }
    EXPECT_EQ(margin, unlimited.SolveRedMargin(state));
  }
}

TEST(EndgameSolverLimitTest, StopsWhenToldAndReportsAsItGoes) {
  State state;
  for (const State& each : RandomGame(Variant::kFourTreasures, 1)) {
    if (Count(each.vacant()) >= 12) state = each;
  }
  int calls = 0;
  int64_t last_nodes = 0;
  EndgameSolver solver({.keep_going = [&](const SolverProgress& progress) {
    EXPECT_GT(progress.nodes, last_nodes);
    EXPECT_LE(progress.low, progress.high);
    last_nodes = progress.nodes;
    return ++calls < 2;
  }});
  EXPECT_EQ(solver.SolveRedMargin(state), std::nullopt);
  EXPECT_EQ(calls, 2);
}

TEST_P(EndgameSolverTest, LeavesAreSolvedWhateverTheTableHolds) {
  // As a search asks: without limits. Lines are short there, far from the
  // deepest that a solve looks at.
  EndgameSolver used;
  int64_t most_nodes = 0;
  int solved = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    for (const State& state : RandomGame(GetParam().variant, seed)) {
      if (state.finished() ||
          Count(state.vacant()) > SolvableVacantHills(GetParam().variant)) {
        continue;
      }
      const std::optional<int> margin = used.SolveRedMargin(state);
      ASSERT_TRUE(margin.has_value()) << PositionToText(state);
      most_nodes = std::max(most_nodes, used.progress().nodes);
      if (seed % 10 == 0) {
        EndgameSolver forgetful({.table_bytes = 0});
        EXPECT_EQ(forgetful.SolveRedMargin(state), margin);
      }
      ++solved;
    }
  }
  EXPECT_LT(most_nodes, 20'000);
  if (SolvableVacantHills(GetParam().variant) > 0) {
    EXPECT_GT(solved, 2000);
  }
}

TEST(EndgameSolverTableTest, VariantsAndOptionsDoNotMixInTheTable) {
  // More than the table tells apart at once, by turns.
  EndgameSolver solver;
  for (int round = 0; round < 2; ++round) {
    for (const VariantInfo& info : kVariants) {
      for (int limit = 1; limit < 4; ++limit) {
        RuleOptions options;
        if (kRuleOptions[0].applies_to(info)) {
          options.no_progress_limit = static_cast<uint8_t>(limit);
        } else if (kRuleOptions[1].applies_to(info)) {
          options.proximity_bound = static_cast<uint8_t>(limit);
        }
        CompareWithMinimax(info.variant, options, solver, 4, 200);
      }
    }
  }
}

}  // namespace
}  // namespace tara::mcts
