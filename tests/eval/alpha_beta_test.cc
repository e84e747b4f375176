#include "tara/eval/alpha_beta/alpha_beta.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/position_text.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/alpha_beta/hand_evaluation.h"
#include "tests/mcts/positions.h"

namespace tara::eval {
namespace {

using mcts::After;
using mcts::ExactResult;
using mcts::FindProblems;
using mcts::ListActions;
using mcts::Problem;
using mcts::RandomGame;
using mcts::VariantTestName;

AlphaBetaOptions Plain(int64_t table_bytes, bool ordering) {
  AlphaBetaOptions options;
  options.table_bytes = table_bytes;
  options.ordering = ordering;
  options.reductions = false;
  options.extensions = false;
  return options;
}

// Returns the score for Red: every line to the depth, by side.
int Minimax(const State& state, int depth) {
  if (state.finished()) return RedScoreOfMargin(Score(state).margin());
  if (depth == 0) return HandEvaluation(state);
  const bool is_red = state.side() == kRed;
  int best = is_red ? -1000000 : 1000000;
  for (const Action action : ListActions(state)) {
    const int score = Minimax(After(state, action), depth - 1);
    best = is_red ? std::max(best, score) : std::min(best, score);
  }
  return best;
}

// Returns positions of random games, of all stages, with few enough actions
// for a minimax to depth 3.
std::vector<State> SmallPositions(Variant variant) {
  constexpr int kMaxActions = 14;
  std::vector<State> positions;
  for (uint64_t seed = 0; seed < 6; ++seed) {
    int since = 0;
    for (const State& state : RandomGame(variant, seed)) {
      if (state.finished() || ++since < 4) continue;
      if (LegalActions(state).Count() > kMaxActions) continue;
      positions.push_back(state);
      since = 0;
    }
  }
  return positions;
}

class AlphaBetaTest : public testing::TestWithParam<VariantInfo> {};

INSTANTIATE_TEST_SUITE_P(AllVariants, AlphaBetaTest,
                         testing::ValuesIn(kVariants), VariantTestName);

TEST_P(AlphaBetaTest, WithoutTableAndOrderingItIsMinimax) {
  AlphaBeta search(Plain(0, false));
  const std::vector<State> positions = SmallPositions(GetParam().variant);
  EXPECT_GE(positions.size(), 10u);
  for (const State& state : positions) {
    const int sign = state.side() == kRed ? 1 : -1;
    for (int depth = 1; depth <= 3; ++depth) {
      const AlphaBetaResult result = search.Search(state, {.depth = depth});
      EXPECT_EQ(result.score, sign * Minimax(state, depth))
          << PositionToText(state) << " depth " << depth;
      EXPECT_EQ(Minimax(After(state, result.action), depth - 1),
                sign * result.score);
    }
  }
}

// In High Kings one position comes at several depths: the table may then know
// more than the depth asked for.
std::vector<VariantInfo> VariantsButHighKings() {
  std::vector<VariantInfo> variants;
  for (const VariantInfo& info : kVariants) {
    if (info.family != Family::kHighKings) variants.push_back(info);
  }
  return variants;
}

class AlphaBetaTableTest : public AlphaBetaTest {};

INSTANTIATE_TEST_SUITE_P(AllButHighKings, AlphaBetaTableTest,
                         testing::ValuesIn(VariantsButHighKings()),
                         VariantTestName);

TEST_P(AlphaBetaTableTest, TableAndOrderingChangeNoScore) {
  AlphaBeta plain(Plain(0, false));
  AlphaBeta ordered(Plain(1 << 20, true));
  int64_t plain_nodes = 0;
  int64_t ordered_nodes = 0;
  for (const State& state : SmallPositions(GetParam().variant)) {
    const AlphaBetaResult expected = plain.Search(state, {.depth = 4});
    const AlphaBetaResult result = ordered.Search(state, {.depth = 4});
    EXPECT_EQ(result.score, expected.score) << PositionToText(state);
    plain_nodes += expected.nodes;
    ordered_nodes += result.nodes;
  }
  EXPECT_LT(ordered_nodes, plain_nodes);
}

TEST_P(AlphaBetaTest, TheLastPliesAreSolvedExactly) {
  AlphaBeta search({.table_bytes = 1 << 20});
  const std::vector<Problem> problems = FindProblems(
      GetParam().variant, {.count = 15, .num_games = 600, .budget = 400});
  EXPECT_GE(problems.size(), 8u);
  for (const Problem& problem : problems) {
    const AlphaBetaResult result = search.Search(problem.state, {});
    EXPECT_TRUE(result.solved);
    EXPECT_NE(
        std::find(problem.best.begin(), problem.best.end(), result.action),
        problem.best.end())
        << ActionToText(result.action);
    int budget = 1000;
    const int red_result = ExactResult(problem.state, budget).value();
    const int expected =
        problem.state.side() == kRed ? red_result : -red_result;
    EXPECT_EQ((result.score > 0) - (result.score < 0), expected);
    EXPECT_TRUE(result.score == 0 || std::abs(result.score) > kWonGame);
  }
}

TEST_P(AlphaBetaTest, TheResultDependsOnThePositionAlone) {
  AlphaBeta fresh({.table_bytes = 1 << 20});
  AlphaBeta used({.table_bytes = 1 << 20});
  const std::vector<State> game = RandomGame(GetParam().variant, 7);
  for (size_t i = 0; i + 1 < game.size(); i += 9) {
    used.Search(game[i / 2], {.nodes = 3000});
    AlphaBeta other({.table_bytes = 1 << 20});
    const AlphaBetaResult a = other.Search(game[i], {.nodes = 2000});
    const AlphaBetaResult b = used.Search(game[i], {.nodes = 2000});
    EXPECT_EQ(a.action, b.action);
    EXPECT_EQ(a.score, b.score);
    EXPECT_EQ(a.nodes, b.nodes);
    EXPECT_EQ(a.principal_variation, b.principal_variation);
  }
}

TEST_P(AlphaBetaTest, ThePrincipalVariationIsALegalLine) {
  AlphaBeta search({.table_bytes = 1 << 20});
  const std::vector<State> game = RandomGame(GetParam().variant, 3);
  for (size_t i = 0; i + 1 < game.size(); i += 5) {
    const AlphaBetaResult result = search.Search(game[i], {.depth = 3});
    ASSERT_FALSE(result.principal_variation.empty());
    EXPECT_EQ(result.principal_variation[0], result.action);
    State state = game[i];
    for (const Action action : result.principal_variation) {
      ASSERT_TRUE(LegalActions(state).Contains(action));
      ApplyAction(action, state);
    }
  }
}

TEST(AlphaBetaLimitsTest, NodesEndASearch) {
  AlphaBeta search;
  const State state = InitialState(Variant::kFourTreasures);
  for (const int64_t nodes : {1000, 5000}) {
    const AlphaBetaResult result = search.Search(state, {.nodes = nodes});
    EXPECT_EQ(result.nodes, nodes);
    EXPECT_FALSE(result.solved);
  }
}

TEST(AlphaBetaLimitsTest, TheFirstIterationIsAlwaysFinished) {
  AlphaBeta search;
  const State state = InitialState(Variant::kFourTreasures);
  const AlphaBetaResult result =
      search.Search(state, {.nodes = 1, .time = absl::ZeroDuration()});
  EXPECT_EQ(result.depth, 1);
  EXPECT_GE(result.nodes, kNumHills);
}

TEST(AlphaBetaLimitsTest, DepthEndsASearch) {
  AlphaBeta search;
  const State state = InitialState(Variant::kSacredHillL1);
  EXPECT_EQ(search.Search(state, {.depth = 2}).depth, 2);
}

TEST(AlphaBetaLimitsTest, TimeEndsASearchByTheClockPassedIn) {
  absl::Time now = absl::UnixEpoch();
  int readings = 0;
  AlphaBetaOptions options;
  options.clock = [&] {
    ++readings;
    now += absl::Milliseconds(1);
    return now;
  };
  AlphaBeta search(options);
  const State state = InitialState(Variant::kFourTreasures);
  const AlphaBetaResult result =
      search.Search(state, {.time = absl::Milliseconds(20)});
  // One reading to begin with; the twentieth after it is 20 ms later.
  EXPECT_EQ(readings, 21);
  EXPECT_GE(result.depth, 1);
  EXPECT_TRUE(LegalActions(state).Contains(result.action));
}

TEST(AlphaBetaScoresTest, WonGamesAreWorthMoreThanAnyEvaluation) {
  EXPECT_EQ(RedScoreOfMargin(0), 0);
  EXPECT_GT(RedScoreOfMargin(1), kMaxHandEvaluation);
  EXPECT_GT(RedScoreOfMargin(3), RedScoreOfMargin(2));
  EXPECT_EQ(RedScoreOfMargin(-5), -RedScoreOfMargin(5));
}

}  // namespace
}  // namespace tara::eval
