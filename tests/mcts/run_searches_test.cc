#include <algorithm>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "tara/core/action.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/search/many_games.h"
#include "tara/mcts/tree/tree.h"
#include "tests/mcts/fake_evaluator.h"
#include "tests/mcts/positions.h"
#include "tests/mcts/tree_invariants.h"

namespace tara::mcts {
namespace {

std::vector<Tree> TreesOfAllVariants(const SearchOptions& options) {
  std::vector<Tree> trees;
  for (const VariantInfo& info : kVariants) {
    trees.emplace_back(options, InitialState(info.variant), 1);
  }
  return trees;
}

std::vector<Tree*> Pointers(std::vector<Tree>& trees) {
  std::vector<Tree*> pointers;
  for (Tree& tree : trees) pointers.push_back(&tree);
  return pointers;
}

TEST(RunSearchesTest, AllTreesShareBatchesOfOneLeafEach) {
  std::vector<Tree> trees = TreesOfAllVariants({.simulations = 30});
  FakeEvaluator evaluator;
  ASSERT_TRUE(RunSearches(Pointers(trees), evaluator).ok());
  for (const Tree& tree : trees) EXPECT_EQ(tree.root_visits(), 30);
  // The root's evaluation and 30 more; no game ends within the tree.
  EXPECT_EQ(evaluator.batch_sizes(), std::vector<size_t>(31, trees.size()));
}

TEST(RunSearchesTest, ATreeDoesNotDependOnItsCompany) {
  std::vector<Tree> together =
      TreesOfAllVariants({.simulations = 60, .dirichlet_fraction = 0.25f});
  std::vector<Tree> alone = together;
  FakeEvaluator evaluator;
  ASSERT_TRUE(RunSearches(Pointers(together), evaluator).ok());
  for (size_t i = 0; i < alone.size(); ++i) {
    ASSERT_TRUE(RunSearches({&alone[i]}, evaluator).ok());
    EXPECT_EQ(Visits(alone[i]), Visits(together[i]));
  }
}

TEST(RunSearchesTest, SeveralLeavesOfATreeFillABatch) {
  std::vector<Tree> trees = TreesOfAllVariants({.simulations = 101});
  for (Tree& tree : trees) {
    FakeEvaluator evaluator;
    ASSERT_TRUE(RunSearches({&tree}, evaluator, 8).ok());
    EXPECT_EQ(tree.root_visits(), 101);
    EXPECT_EQ(tree.in_flight(), 0);
    const std::vector<size_t> sizes = evaluator.batch_sizes();
    EXPECT_EQ(*std::max_element(sizes.begin(), sizes.end()), 8u);
    // Batches are smaller where walks meet; not much so on the whole.
    EXPECT_LT(sizes.size(), 40u);
  }
}

TEST(RunSearchesTest, TreesThatAreDoneOrFinishedAreLeftAlone) {
  std::vector<Tree> trees;
  const std::vector<State> game = RandomGame(Variant::kSacredHillL1, 1);
  for (int i = 0; i < 3; ++i) {
    trees.emplace_back(SearchOptions{.simulations = 5}, game[game.size() - 2],
                       1);
  }
  for (const Action action : ListActions(game[game.size() - 2])) {
    if (After(game[game.size() - 2], action).finished()) {
      trees[0].Advance(action);
      break;
    }
  }
  ASSERT_TRUE(trees[0].finished());
  FakeEvaluator evaluator;
  ASSERT_TRUE(RunSearches({&trees[1]}, evaluator).ok());
  evaluator.ForgetBatches();
  ASSERT_TRUE(RunSearches(Pointers(trees), evaluator).ok());
  EXPECT_EQ(trees[0].root_visits(), 0);
  EXPECT_EQ(trees[1].root_visits(), 5);
  EXPECT_EQ(trees[2].root_visits(), 5);
  for (const size_t size : evaluator.batch_sizes()) EXPECT_EQ(size, 1u);
}

TEST(RunSearchesTest, NoTreesNeedNoEvaluations) {
  FakeEvaluator evaluator;
  EXPECT_TRUE(RunSearches({}, evaluator).ok());
  EXPECT_TRUE(evaluator.batch_sizes().empty());
}

TEST(RunSearchesTest, AfterAFailureTheTreesCanGoOn) {
  std::vector<Tree> trees = TreesOfAllVariants({.simulations = 20});
  std::vector<Tree> twins = trees;
  FakeEvaluator evaluator;
  evaluator.FailAfter(7);
  EXPECT_EQ(RunSearches(Pointers(trees), evaluator).message(), "told to fail");
  for (const Tree& tree : trees) EXPECT_EQ(tree.in_flight(), 0);
  evaluator.FailAfter(INT64_MAX);
  ASSERT_TRUE(RunSearches(Pointers(trees), evaluator).ok());
  ASSERT_TRUE(RunSearches(Pointers(twins), evaluator).ok());
  for (size_t i = 0; i < trees.size(); ++i) {
    EXPECT_EQ(Visits(trees[i]), Visits(twins[i]));
  }
}

}  // namespace
}  // namespace tara::mcts
