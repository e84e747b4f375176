// One tree, several threads.

#include "tara/mcts/search/threaded_search.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <vector>

#include "gtest/gtest.h"
#include "tara/core/board.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/mcts/search/many_games.h"
#include "tara/mcts/solver/endgame_solver.h"
#include "tara/mcts/tree/tree.h"
#include "tara/mcts/utility.h"
#include "tests/mcts/fake_evaluator.h"
#include "tests/mcts/positions.h"
#include "tests/mcts/tree_invariants.h"

namespace tara::mcts {
namespace {

bool Never() { return false; }

// Solves, and counts. Thread-safe.
class CountingSolver : public LeafSolver {
 public:
  std::optional<int> SolveRedMargin(const State& state) override {
    const std::optional<int> margin = solver_.SolveRedMargin(state);
    answers += margin.has_value();
    return margin;
  }
  bool thread_safe() const override { return true; }

  std::atomic<int64_t> answers = 0;

 private:
  // Kings may wander for long.
  SharedSolver solver_{{.node_limit = 2000}};
};

class ThreadedSearchTest : public testing::TestWithParam<VariantInfo> {
 protected:
  State start() const { return InitialState(GetParam().variant); }
  State late() const {
    const std::vector<State> game = RandomGame(GetParam().variant, 3);
    return game[game.size() - std::min<size_t>(8, game.size())];
  }

  PlayoutEvaluator playouts_{1, 17};
  UniformEvaluator uniform_;
};

INSTANTIATE_TEST_SUITE_P(AllVariants, ThreadedSearchTest,
                         testing::ValuesIn(kVariants), VariantTestName);

TEST_P(ThreadedSearchTest, EveryNodeAddsUpAfterwards) {
  for (const bool graph : {false, true}) {
    for (const bool proof : {false, true}) {
      for (const int leaves : {1, 7}) {
        for (const State& root : {start(), late()}) {
          Tree tree({.simulations = 800, .graph_search = graph, .proof = proof},
                    root, 1);
          ASSERT_TRUE(SearchWithThreads(
                          tree, playouts_,
                          {.threads = 4, .leaves_per_game = leaves}, Never)
                          .ok());
          EXPECT_TRUE(tree.done());
          EXPECT_LT(tree.root_visits(), 800 + 4 * (leaves + 64));
          ExpectInvariants(tree, playouts_);
        }
      }
    }
  }
}

TEST_P(ThreadedSearchTest, TheyAskTheSolverAndProveWhatIsTrue) {
  // Exact to the point, so that there is one truth.
  const UtilityOptions points = {.kind = UtilityKind::kPoints};
  int64_t answers = 0;
  for (const Problem& problem : FindProblems(
           GetParam().variant, {.count = 4, .num_games = 100, .budget = 300})) {
    int budget = 300;
    const int exact = *ExactMargin(problem.state, budget);
    const bool is_red = problem.state.side() == kRed;
    for (const bool graph : {false, true}) {
      for (const int threads : {2, 4}) {
        CountingSolver solver;
        // Not the root's own actions, where hills are what is left of a game.
        Tree tree({.simulations = 20000,
                   .utility = points,
                   .graph_search = graph,
                   .proof = true,
                   .solver = &solver,
                   .solver_vacant_hills = Count(problem.state.vacant()) - 1},
                  problem.state, 1);
        ASSERT_TRUE(
            SearchWithThreads(tree, uniform_, {.threads = threads}, Never)
                .ok());
        ASSERT_TRUE(tree.settled());
        EXPECT_EQ(tree.root_bounds().low, is_red ? exact : -exact);
        EXPECT_EQ(tree.root_bounds().high, is_red ? exact : -exact);
        EXPECT_EQ(tree.counts().solved, solver.answers);
        ExpectInvariants(tree, uniform_);
        answers += solver.answers;
      }
    }
  }
  // In High Kings and Stone of Destiny endings have full boards.
  if (SolvableVacantHills(GetParam().variant) > 0) {
    EXPECT_GT(answers, 0);
  }
}

TEST_P(ThreadedSearchTest, SolvedPartsAddUpAfterwards) {
  // So many simulations that threads have parts of the tree to themselves.
  const std::vector<State> game = RandomGame(GetParam().variant, 3);
  for (const bool graph : {false, true}) {
    for (const int leaves : {1, 5}) {
      CountingSolver solver;
      State root = start();
      for (const State& state : game) {
        if (Count(state.vacant()) >= 9 && !state.finished()) root = state;
      }
      Tree tree({.simulations = 3000,
                 .graph_search = graph,
                 .proof = true,
                 .solver = &solver,
                 .solver_vacant_hills = Count(root.vacant()) - 4},
                root, 1);
      ASSERT_TRUE(SearchWithThreads(tree, playouts_,
                                    {.threads = 4, .leaves_per_game = leaves},
                                    Never)
                      .ok());
      EXPECT_TRUE(tree.done());
      EXPECT_EQ(tree.counts().solved, solver.answers);
      ExpectInvariants(tree, playouts_);
    }
  }
}

TEST_P(ThreadedSearchTest, OneThreadSearchesAsOneOwnerDoes) {
  const SearchOptions options = {.simulations = 500};
  Tree shared(options, start(), 1);
  Tree owned(options, start(), 1);
  ASSERT_TRUE(SearchWithThreads(shared, playouts_, {.threads = 1}, Never).ok());
  ASSERT_TRUE(RunSearches({&owned}, playouts_).ok());
  const std::vector<RootAction> a = shared.root_actions();
  const std::vector<RootAction> b = owned.root_actions();
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].visits, b[i].visits);
}

TEST_P(ThreadedSearchTest, TheTreeGoesOnAfterAdvancingWithOneOwner) {
  Tree tree({.simulations = 600, .graph_search = true}, start(), 1);
  for (int ply = 0; ply < 3; ++ply) {
    ASSERT_TRUE(SearchWithThreads(tree, uniform_, {.threads = 2}, Never).ok());
    tree.Advance(tree.principal_variation()[0]);
    ExpectInvariants(tree, uniform_);
    ASSERT_TRUE(RunSearches({&tree}, uniform_).ok());
    ExpectInvariants(tree, uniform_);
  }
}

TEST_P(ThreadedSearchTest, AFullTreeEndsTheSearch) {
  Tree tree({.simulations = 10000000, .max_bytes = 8 << 20}, start(), 1);
  ASSERT_TRUE(SearchWithThreads(tree, uniform_, {.threads = 3}, Never).ok());
  EXPECT_TRUE(tree.full());
  EXPECT_TRUE(tree.done());
  EXPECT_LE(tree.bytes(), 8 << 20);
  EXPECT_GT(tree.root_visits(), 1000);
}

TEST(ThreadedSearchStopTest, TheCallbackEndsTheSearch) {
  UniformEvaluator uniform;
  Tree tree({.simulations = 10000000}, InitialState(Variant::kSacredHillL1), 1);
  std::atomic<int> asked = 0;
  ASSERT_TRUE(SearchWithThreads(tree, uniform, {.threads = 2}, [&] {
                return ++asked > 100;
              }).ok());
  EXPECT_FALSE(tree.done());
  // A simulation is asked about once by its thread, and at most twice by the
  // other one, where that waits for it.
  EXPECT_GT(tree.root_visits(), 30);
  EXPECT_LT(tree.root_visits(), 110);
}

TEST(ThreadedSearchDeathTest, TheSolverIsOneForSeveralThreads) {
  EndgameSolver solver;
  UniformEvaluator uniform;
  Tree tree({.simulations = 10, .proof = true, .solver = &solver},
            InitialState(Variant::kSacredHillL1), 1);
  EXPECT_DEATH(
      SearchWithThreads(tree, uniform, {.threads = 2}, Never).IgnoreError(),
      "the solver must be thread-safe");
  EXPECT_TRUE(SearchWithThreads(tree, uniform, {.threads = 1}, Never).ok());
}

TEST(ThreadedSearchErrorTest, AfterAFailureTheTreeCanGoOn) {
  for (const int batches : {0, 1, 40}) {
    FakeEvaluator evaluator;
    evaluator.FailAfter(batches);
    Tree tree({.simulations = 500}, InitialState(Variant::kFourTreasures), 1);
    EXPECT_EQ(SearchWithThreads(tree, evaluator,
                                {.threads = 3, .leaves_per_game = 4}, Never)
                  .message(),
              "told to fail");
    EXPECT_LT(tree.root_visits(), 500);
    evaluator.FailAfter(INT64_MAX);
    ExpectInvariants(tree, evaluator);
    ASSERT_TRUE(SearchWithThreads(tree, evaluator, {.threads = 3}, Never).ok());
    EXPECT_GE(tree.root_visits(), 500);
    ExpectInvariants(tree, evaluator);
  }
}

}  // namespace
}  // namespace tara::mcts
