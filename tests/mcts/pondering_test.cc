// A tree searched while its owner does something else.

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/search/many_games.h"
#include "tara/mcts/search/search_session.h"
#include "tara/mcts/solver/endgame_solver.h"
#include "tara/mcts/tree/tree.h"
#include "tests/mcts/fake_evaluator.h"
#include "tests/mcts/positions.h"
#include "tests/mcts/tree_invariants.h"

namespace tara::mcts {
namespace {

class PonderingTest : public testing::TestWithParam<VariantInfo> {
 protected:
  State start() const { return InitialState(GetParam().variant); }
};

INSTANTIATE_TEST_SUITE_P(AllVariants, PonderingTest,
                         testing::ValuesIn(kVariants), VariantTestName);

TEST_P(PonderingTest, TheTreeComesBackWithWhatWasFoundAndGoesOn) {
  for (const int threads : {1, 2}) {
    FakeEvaluator evaluator;
    Pondering pondering;
    Tree tree({.simulations = 30, .graph_search = true}, start(), 1);
    for (int ply = 0; ply < 3; ++ply) {
      const int simulations = tree.options().simulations;
      pondering.Start(std::move(tree), evaluator, {.threads = threads});
      EXPECT_TRUE(pondering.started());
      evaluator.AwaitBatches(100 * (ply + 1));
      absl::StatusOr<Tree> back = pondering.Stop();
      EXPECT_FALSE(pondering.started());
      ASSERT_TRUE(back.ok()) << back.status();
      EXPECT_EQ(back->options().simulations, simulations);
      ExpectInvariants(*back, evaluator);
      tree = *std::move(back);
      if (tree.root_visits() == 0) continue;
      tree.Advance(tree.principal_variation()[0]);
      tree.SetSimulations(tree.root_visits() + 20);
      ASSERT_TRUE(RunSearches({&tree}, evaluator).ok());
      ExpectInvariants(tree, evaluator);
    }
  }
}

TEST_P(PonderingTest, AtItsLimitItHasTheTreeOfASearch) {
  FakeEvaluator evaluator;
  Pondering pondering;
  pondering.Start(Tree({.simulations = 30}, start(), 1), evaluator,
                  {.simulations = 200});
  // Each simulation is a batch, far from the game's end, and so is the root. A
  // batch that has begun is waited for, and applied.
  evaluator.AwaitBatches(201);
  const absl::StatusOr<Tree> back = pondering.Stop();
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->root_visits(), 200);
  Tree searched({.simulations = 200}, start(), 1);
  ASSERT_TRUE(RunSearches({&searched}, evaluator).ok());
  const std::vector<RootAction> a = back->root_actions();
  const std::vector<RootAction> b = searched.root_actions();
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].visits, b[i].visits);
}

TEST(PonderingStopTest, StoppedAtOnceTheTreeIsAsGood) {
  FakeEvaluator evaluator;
  Pondering pondering;
  for (int round = 0; round < 20; ++round) {
    pondering.Start(
        Tree({.simulations = 30}, InitialState(Variant::kHighKingsL1), 1),
        evaluator, {.threads = 1 + round % 3});
    absl::StatusOr<Tree> back = pondering.Stop();
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(back->in_flight(), 0);
    ASSERT_TRUE(RunSearches({&*back}, evaluator).ok());
    ExpectInvariants(*back, evaluator);
  }
}

TEST(PonderingStopTest, DestroyedWhileRunningItStops) {
  for (int threads = 1; threads <= 3; ++threads) {
    FakeEvaluator evaluator;
    {
      Pondering pondering;
      pondering.Start(
          Tree({.simulations = 30}, InitialState(Variant::kSacredHillL1), 1),
          evaluator, {.threads = threads});
      evaluator.AwaitBatches(100);
    }
    // Nobody else asks from now on: the batches are those of one search.
    const int64_t before = evaluator.batches();
    Tree tree({.simulations = 300}, InitialState(Variant::kSacredHillL1), 1);
    ASSERT_TRUE(RunSearches({&tree}, evaluator).ok());
    EXPECT_EQ(evaluator.batches(), before + 301);
  }
}

TEST(PonderingStopTest, AProvedPositionNeedsNoMoreThought) {
  EndgameSolver solver;
  FakeEvaluator evaluator;
  const std::vector<State> game = RandomGame(Variant::kPoisonedChalice, 3);
  Pondering pondering;
  pondering.Start(Tree({.simulations = 30,
                        .proof = true,
                        .solver = &solver,
                        .solver_vacant_hills = 4},
                       game[game.size() - 3], 1),
                  evaluator, {});
  const absl::StatusOr<Tree> back = pondering.Stop();
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->in_flight(), 0);
}

TEST(PonderingStopTest, TheEvaluatorsErrorIsTold) {
  for (const int threads : {1, 2}) {
    FakeEvaluator evaluator;
    evaluator.FailAfter(29);
    Pondering pondering;
    pondering.Start(
        Tree({.simulations = 30}, InitialState(Variant::kSacredHillL1), 1),
        evaluator, {.threads = threads});
    evaluator.AwaitBatches(30);
    EXPECT_EQ(pondering.Stop().status().message(), "told to fail");
    EXPECT_FALSE(pondering.started());
  }
}

}  // namespace
}  // namespace tara::mcts
