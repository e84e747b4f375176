// Searches whose positions share nodes, what is proved, and the memory limit.

#include <algorithm>
#include <optional>
#include <vector>

#include "gtest/gtest.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/mcts/search/many_games.h"
#include "tara/mcts/tree/node.h"
#include "tara/mcts/tree/node_store.h"
#include "tara/mcts/tree/search_data.h"
#include "tara/mcts/tree/tree.h"
#include "tara/mcts/tree/walk.h"
#include "tara/mcts/utility.h"
#include "tests/mcts/positions.h"
#include "tests/mcts/tree_invariants.h"

namespace tara::mcts {
namespace {

class GraphSearchTest : public testing::TestWithParam<VariantInfo> {
 protected:
  State start() const { return InitialState(GetParam().variant); }
  State PositionAt(double part, uint64_t seed) const {
    const std::vector<State> game = RandomGame(GetParam().variant, seed);
    return game[static_cast<size_t>(part *
                                    static_cast<double>(game.size() - 1))];
  }
  // Positions from which every line can be searched.
  std::vector<Problem> Endgames() const {
    return FindProblems(GetParam().variant,
                        {.count = 12, .num_games = 300, .budget = 300});
  }
  void Search(Tree& tree, int leaves = 1) {
    ASSERT_TRUE(RunSearches({&tree}, playouts_, leaves).ok());
  }

  PlayoutEvaluator playouts_{1, 17};
  UniformEvaluator uniform_;
};

INSTANTIATE_TEST_SUITE_P(AllVariants, GraphSearchTest,
                         testing::ValuesIn(kVariants), VariantTestName);

TEST_P(GraphSearchTest, EveryNodeAddsUpWithAndWithoutGraphAndProof) {
  for (const bool graph : {false, true}) {
    for (const bool proof : {false, true}) {
      for (const int leaves : {1, 5}) {
        for (const double part : {0.0, 0.6, 0.9}) {
          Tree tree({.simulations = 600, .graph_search = graph, .proof = proof},
                    PositionAt(part, 4), 1);
          Search(tree, leaves);
          ExpectInvariants(tree, playouts_);
        }
      }
    }
  }
}

TEST_P(GraphSearchTest, TranspositionsShareNodes) {
  Tree tree({.simulations = 60000, .graph_search = true}, start(), 1);
  ASSERT_TRUE(RunSearches({&tree}, uniform_).ok());
  EXPECT_GT(tree.counts().transpositions, 0);
  EXPECT_GT(tree.counts().catch_ups, 0);
  EXPECT_LT(tree.num_nodes(), 60001);
  EXPECT_EQ(tree.root_visits(), 60000);
}

TEST_P(GraphSearchTest, AdvanceKeepsWhatCanBeReachedAndTheGraphGoesOn) {
  for (const bool proof : {false, true}) {
    Tree tree({.simulations = 400, .graph_search = true, .proof = proof},
              PositionAt(0.4, 2), 1);
    for (int ply = 0; ply < 4 && !tree.finished(); ++ply) {
      Search(tree);
      const std::vector<Action> line = tree.principal_variation();
      ASSERT_FALSE(line.empty());
      const State next = After(tree.root(), line[0]);
      tree.Advance(line[0]);
      EXPECT_EQ(tree.root(), next);
      if (tree.root_visits() > 0) ExpectInvariants(tree, playouts_);
    }
  }
}

// After Advance a node to which others led as well may have more visits than
// the root. It gets no more until the root has as many: each edge on the way to
// it catches up first. So the limit of visits (node.h) is asked of the root
// alone.
TEST_P(GraphSearchTest, NoNodeGrowsBeyondTheRoot) {
  for (const int leaves : {1, 5}) {
    Tree tree({.simulations = 1000, .graph_search = true}, PositionAt(0.6, 2),
              1);
    Search(tree);
    auto& store = const_cast<NodeStore&>(tree.data().store);
    const auto visits = [&store](uint32_t node) {
      return UnpackTotals(store.node(node).totals).visits;
    };
    // Such nodes are rare in searches as small as this: make some.
    std::vector<uint32_t> before;
    for (uint32_t node = 0; node < store.num_nodes(); ++node) {
      if (node % 3 == 1 && store.node(node).status == NodeStatus::kExpanded) {
        store.node(node).totals = PackTotals(2 * visits(0), 0);
      }
      before.push_back(visits(node));
    }
    int grown = 0;
    for (int round = 0; round < 10; ++round) {
      tree.SetSimulations(tree.root_visits() + 500);
      Search(tree, leaves);
      for (uint32_t node = 0; node < before.size(); ++node) {
        // Those in flight at a time may arrive together.
        EXPECT_LE(visits(node),
                  std::max<uint32_t>(before[node], visits(0) + leaves - 1));
        grown += visits(node) > before[node];
      }
    }
    EXPECT_GT(grown, 0);
  }
}

TEST_P(GraphSearchTest, WhatIsProvedHoldsAgainstMinimax) {
  const std::vector<Problem> endgames = Endgames();
  for (const Problem& problem : endgames) {
    for (const bool graph : {false, true}) {
      for (const UtilityKind kind :
           {UtilityKind::kWinLoss, UtilityKind::kPoints}) {
        Tree tree({.simulations = 20000,
                   .utility = {.kind = kind},
                   .graph_search = graph,
                   .proof = true},
                  problem.state, 1);
        ASSERT_TRUE(RunSearches({&tree}, uniform_).ok());
        const SearchData& data = tree.data();
        for (uint32_t i = 0; i < data.store.num_nodes(); ++i) {
          const MarginBounds bounds = data.store.node(i).bounds;
          if (bounds == MarginBounds{}) continue;
          int budget = 300;
          const std::optional<int> exact =
              ExactMargin(data.store.state(i), budget);
          ASSERT_TRUE(exact.has_value());
          EXPECT_LE(bounds.low, *exact);
          EXPECT_GE(bounds.high, *exact);
        }
        // So few positions are all searched to the end.
        ASSERT_TRUE(tree.settled());
        EXPECT_TRUE(tree.done());
        EXPECT_NE(std::find(problem.best.begin(), problem.best.end(),
                            ProvedAction(tree)),
                  problem.best.end());
        if (kind == UtilityKind::kPoints) {
          // Points are settled by the exact margin alone.
          EXPECT_EQ(tree.root_bounds().low, tree.root_bounds().high);
          continue;
        }
        int budget = 300;
        const int result = *ExactResult(problem.state, budget);
        EXPECT_EQ(tree.root_value(),
                  problem.state.side() == kRed ? result : -result);
      }
    }
  }
  EXPECT_FALSE(endgames.empty());
}

// Solves by minimax what is small enough for its patience.
class MinimaxSolver : public LeafSolver {
 public:
  std::optional<int> SolveRedMargin(const State& state) override {
    ++asked;
    int budget = 300;
    return ExactMargin(state, budget);
  }
  int asked = 0;
};

TEST_P(GraphSearchTest, ASolverSettlesLeavesWithFewVacantHills) {
  int solved = 0;
  for (const Problem& problem : Endgames()) {
    const int vacant = Count(problem.state.vacant());
    MinimaxSolver solver;
    Tree tree({.simulations = 4000,
               .proof = true,
               .solver = &solver,
               .solver_vacant_hills = vacant},
              problem.state, 1);
    ASSERT_TRUE(RunSearches({&tree}, uniform_).ok());
    ASSERT_TRUE(tree.settled());
    EXPECT_NE(
        std::find(problem.best.begin(), problem.best.end(), ProvedAction(tree)),
        problem.best.end());
    // Only the root itself is expanded: all its actions are answered.
    EXPECT_LE(tree.num_nodes(),
              1 + static_cast<int64_t>(tree.root_actions().size()));
    solved += static_cast<int>(tree.counts().solved);
    // After the best action the tree starts anew, and is settled again.
    tree.Advance(ProvedAction(tree));
    if (tree.finished()) continue;
    EXPECT_EQ(tree.root_visits(), 0);
    ASSERT_TRUE(RunSearches({&tree}, uniform_).ok());
    EXPECT_TRUE(tree.settled());

    MinimaxSolver idle;
    Tree without({.simulations = 50,
                  .proof = true,
                  .solver = &idle,
                  .solver_vacant_hills = -1},
                 problem.state, 1);
    ASSERT_TRUE(RunSearches({&without}, uniform_).ok());
    EXPECT_EQ(idle.asked, 0);
  }
  EXPECT_GT(solved, 0);
}

TEST_P(GraphSearchTest, AFullTreeEndsWithWhatItHas) {
  for (const bool graph : {false, true}) {
    const SearchOptions options = {
        .simulations = 1000000, .graph_search = graph, .max_bytes = 400000};
    Tree tree(options, start(), 1);
    for (int ply = 0; ply < 3; ++ply) {
      ASSERT_TRUE(RunSearches({&tree}, uniform_, 4).ok());
      EXPECT_TRUE(tree.full());
      EXPECT_TRUE(tree.done());
      EXPECT_LE(tree.bytes(), options.max_bytes);
      EXPECT_GT(tree.bytes(), options.max_bytes / 2);
      EXPECT_GT(tree.root_visits(), 100);
      Tree::Leaf leaf;
      EXPECT_EQ(tree.Gather(leaf), Tree::Gathered::kFull);
      tree.Advance(tree.principal_variation()[0]);
      EXPECT_FALSE(tree.full());
    }
  }
}

TEST_P(GraphSearchTest, ATinyLimitStillSearches) {
  Tree tree({.simulations = 1000, .max_bytes = 1}, start(), 1);
  ASSERT_TRUE(RunSearches({&tree}, uniform_).ok());
  EXPECT_TRUE(tree.full());
  EXPECT_GE(tree.root_visits(), 1);
}

// The first action has all the prior; nobody wins.
Evaluation FirstActionOnly(const State& state) {
  Evaluation evaluation;
  evaluation.priors.assign(ListActions(state).size(), 0.0f);
  evaluation.priors[0] = 1;
  evaluation.draw = 1;
  return evaluation;
}

TEST(CyclesTest, AWalkThatComesBackToItsOwnWayEndsThere) {
  // No search has met a cycle of positions yet, so this makes one: the edge of
  // the third ply is led back to the root.
  SearchData data({.graph_search = true}, /*compensation_halves=*/0);
  data.store.AddNode(InitialState(Variant::kHighKingsL1));
  SearchLeaf leaf;
  for (int ply = 0; ply < 4; ++ply) {
    ASSERT_EQ(GatherLeaf(data, leaf), Gathered::kLeaf);
    ASSERT_EQ(leaf.path.size(), static_cast<size_t>(ply));
    ApplyLeaf(data, leaf, FirstActionOnly(leaf.state));
  }
  data.store.edge(leaf.path.back()).child = SearchData::kRoot;
  for (int i = 1; i <= 5; ++i) {
    EXPECT_EQ(GatherLeaf(data, leaf), Gathered::kFinished);
    EXPECT_EQ(leaf.path.size(), 3u);
    EXPECT_EQ(data.counts.cycles, i);
  }
  EXPECT_EQ(UnpackTotals(data.store.node(SearchData::kRoot).totals).visits, 9u);
}

}  // namespace
}  // namespace tara::mcts
