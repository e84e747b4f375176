#include "tara/mcts/tree/tree.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/mcts/options/search_options.h"
#include "tests/mcts/fake_evaluator.h"
#include "tests/mcts/positions.h"
#include "tests/mcts/simple_search.h"
#include "tests/mcts/tree_invariants.h"

namespace tara::mcts {
namespace {

// Runs a tree to the end, one leaf at a time.
void Search(Tree& tree, Evaluator& evaluator) {
  Tree::Leaf leaf;
  while (!tree.done()) {
    const Tree::Gathered gathered = tree.Gather(leaf);
    ASSERT_NE(gathered, Tree::Gathered::kInFlight);
    if (gathered == Tree::Gathered::kLeaf) {
      tree.Apply(leaf, EvaluateOne(evaluator, leaf.state));
    }
  }
}

int Sum(const std::vector<int>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0);
}

// Priors are kept to one part in 4096.
void ExpectUniform(const RootAction& action, const Tree& tree) {
  const auto actions = static_cast<float>(tree.root_actions().size());
  EXPECT_NEAR(action.prior * actions, 1, 1.0 / 4096);
}

class TreeTest : public testing::TestWithParam<VariantInfo> {
 protected:
  State start() const { return InitialState(GetParam().variant); }
  // A position two thirds into a random game.
  State middle() const {
    const std::vector<State> game = RandomGame(GetParam().variant, 3);
    return game[game.size() * 2 / 3];
  }

  PlayoutEvaluator playouts_{1, 17};
  UniformEvaluator uniform_;
};

INSTANTIATE_TEST_SUITE_P(AllVariants, TreeTest, testing::ValuesIn(kVariants),
                         VariantTestName);

TEST_P(TreeTest, RootActionsAreTheLegalActionsInOrder) {
  Tree tree({.simulations = 1}, middle(), 1);
  EXPECT_TRUE(tree.root_actions().empty());
  Search(tree, playouts_);
  std::vector<Action> actions;
  for (const RootAction& action : tree.root_actions()) {
    actions.push_back(action.action);
  }
  EXPECT_EQ(actions, ListActions(middle()));
}

TEST_P(TreeTest, FinishedGamesCountWithTheirExactResult) {
  // The last position of a random game before the end.
  const std::vector<State> game = RandomGame(GetParam().variant, 5);
  const State& last = game[game.size() - 2];
  Tree tree({.simulations = 500, .c_puct = 10}, last, 1);
  Search(tree, uniform_);
  for (const RootAction& action : tree.root_actions()) {
    const State next = After(last, action.action);
    if (!next.finished()) continue;
    ASSERT_GT(action.visits, 0);
    const int margin = Score(next).margin() * (last.side() == kRed ? 1 : -1);
    EXPECT_EQ(action.mean_value, (margin > 0) - (margin < 0));
  }
}

TEST_P(TreeTest, NoiseMovesThePriorsOfTheRootAlone) {
  // Without values and with one action that the noise favours, only the
  // visits of the root's actions can differ from a search without noise.
  const SearchOptions quiet = {.simulations = 200};
  const SearchOptions noisy = {.simulations = 200, .dirichlet_fraction = 0.9f};
  Tree without(quiet, start(), 1);
  Tree with(noisy, start(), 1);
  Search(without, uniform_);
  Search(with, uniform_);
  EXPECT_NE(Visits(without), Visits(with));
  for (const RootAction& action : with.root_actions()) {
    ExpectUniform(action, with);
  }
  // Below the root: forced to one action, its subtree is searched as one
  // without noise would be.
  Tree::Leaf leaf;
  std::vector<State> leaves[2];
  for (int i = 0; i < 2; ++i) {
    Tree tree({.simulations = 60,
               .first_play_urgency_reduction = 1000,
               .dirichlet_concentration = 0.01f,
               .dirichlet_fraction = i == 0 ? 0.0f : 1e-6f},
              start(), 7);
    while (!tree.done()) {
      if (tree.Gather(leaf) != Tree::Gathered::kLeaf) continue;
      if (leaf.path.size() > 1) leaves[i].push_back(leaf.state);
      Evaluation evaluation = EvaluateOne(uniform_, leaf.state);
      if (leaf.path.empty()) {
        // The root's first action is the only one with a chance.
        std::fill(evaluation.priors.begin(), evaluation.priors.end(), 0.0f);
        evaluation.priors[0] = 1;
      }
      tree.Apply(leaf, evaluation);
    }
  }
  ASSERT_FALSE(leaves[0].empty());
  EXPECT_EQ(leaves[0], leaves[1]);
}

TEST_P(TreeTest, SeedsDecideTheNoise) {
  const SearchOptions options = {.simulations = 100,
                                 .dirichlet_fraction = 0.5f};
  std::vector<std::vector<int>> visits;
  for (const uint64_t seed : {1, 1, 2}) {
    Tree tree(options, start(), seed);
    Search(tree, playouts_);
    visits.push_back(Visits(tree));
  }
  EXPECT_EQ(visits[0], visits[1]);
  EXPECT_NE(visits[0], visits[2]);
}

TEST_P(TreeTest, AdvanceKeepsTheVisitsBelowTheAction) {
  Tree tree({.simulations = 400}, middle(), 1);
  Search(tree, playouts_);
  const std::vector<RootAction> actions = tree.root_actions();
  const RootAction best =
      *std::max_element(actions.begin(), actions.end(),
                        [](const RootAction& a, const RootAction& b) {
                          return a.visits < b.visits;
                        });
  const std::vector<Action> line = tree.principal_variation();
  ASSERT_FALSE(line.empty());
  EXPECT_EQ(line[0], best.action);
  const Side side = tree.root().side();
  tree.Advance(best.action);
  EXPECT_EQ(tree.root(), After(middle(), best.action));
  if (tree.finished()) return;
  // One visit was the evaluation of the new root itself.
  EXPECT_EQ(tree.root_visits(), best.visits - 1);
  EXPECT_EQ(Sum(Visits(tree)), best.visits - 1);
  EXPECT_NEAR(tree.root_value(),
              tree.root().side() == side ? best.mean_value : -best.mean_value,
              1e-5);
  EXPECT_EQ(tree.principal_variation(),
            std::vector<Action>(line.begin() + 1, line.end()));
  Search(tree, playouts_);
  EXPECT_EQ(Sum(Visits(tree)), 400);
}

TEST_P(TreeTest, ARootByGumbelHasAllSimulationsOfItsPlanBesideThoseKept) {
  Tree tree({.simulations = 60, .gumbel = true}, start(), 1);
  Search(tree, playouts_);
  const Action action = tree.gumbel_action();
  tree.Advance(action);
  if (tree.finished()) return;
  const int kept = tree.root_visits();
  EXPECT_GT(kept, 0);
  EXPECT_EQ(tree.simulations_left(), 60);
  // Fewer than were kept: they are made all the same.
  tree.SetRootOptions({.simulations = 4, .gumbel = true});
  EXPECT_FALSE(tree.done());
  Search(tree, playouts_);
  EXPECT_EQ(tree.root_visits(), kept + 4);
}

TEST_P(TreeTest, RootOptionsAreForTheRootsToCome) {
  SearchOptions options = {.simulations = 30, .dirichlet_fraction = 0.5f};
  const auto noise_after_advance = [&](float fraction) {
    Tree tree(options, start(), 1);
    Search(tree, playouts_);
    SearchOptions changed = options;
    changed.simulations = 50;
    changed.dirichlet_fraction = fraction;
    tree.SetRootOptions(changed);
    tree.Advance(tree.principal_variation()[0]);
    Search(tree, playouts_);
    EXPECT_EQ(tree.root_visits(), 50);
    const std::vector<RootAction> actions = tree.root_actions();
    const std::vector<float> priors = tree.root_search_priors();
    float distance = 0;
    for (size_t i = 0; i < actions.size(); ++i) {
      distance += std::abs(priors[i] - actions[i].prior);
    }
    return distance;
  };
  EXPECT_LT(noise_after_advance(0), 1e-2f);  // priors are kept in 16 bits
  EXPECT_GT(noise_after_advance(0.5f), 0.1f);
}

TEST_P(TreeTest, AdvanceToAnActionNeverTriedStartsAnew) {
  Tree tree({.simulations = 10, .first_play_urgency_reduction = 1000}, start(),
            1);
  Search(tree, uniform_);
  const RootAction last = tree.root_actions().back();
  ASSERT_EQ(last.visits, 0);
  tree.Advance(last.action);
  EXPECT_EQ(tree.root_visits(), 0);
  EXPECT_EQ(tree.root_value(), 0);
  Search(tree, uniform_);
  EXPECT_EQ(Sum(Visits(tree)), 10);
}

TEST_P(TreeTest, WholeGamesCanBePlayedOnOneTree) {
  Tree tree({.simulations = 20, .dirichlet_fraction = 0.25f}, start(), 1);
  State state = start();
  while (!tree.finished()) {
    ASSERT_EQ(tree.root(), state);
    Search(tree, playouts_);
    const Action action = tree.principal_variation()[0];
    ASSERT_TRUE(PlayAction(action, state).ok());
    tree.Advance(action);
  }
  EXPECT_TRUE(state.finished());
  EXPECT_TRUE(tree.done());
}

TEST_P(TreeTest, LeavesInFlightAreDifferentPositionsOfTheTree) {
  Tree tree({.simulations = 200}, start(), 1);
  std::vector<Tree::Leaf> leaves;
  int most = 0;
  while (!tree.done()) {
    leaves.emplace_back();
    const Tree::Gathered gathered = tree.Gather(leaves.back());
    if (gathered == Tree::Gathered::kLeaf) {
      EXPECT_EQ(tree.in_flight(), static_cast<int>(leaves.size()));
      if (leaves.size() < 6) continue;
    } else {
      leaves.pop_back();
      if (gathered == Tree::Gathered::kFinished) continue;
      ASSERT_FALSE(leaves.empty());
    }
    most = std::max(most, tree.in_flight());
    std::set<std::vector<uint32_t>> paths;
    // The last gathered comes back first: the order does not matter.
    for (auto leaf = leaves.rbegin(); leaf != leaves.rend(); ++leaf) {
      EXPECT_TRUE(paths.insert(leaf->path).second);
      tree.Apply(*leaf, EvaluateOne(playouts_, leaf->state));
    }
    leaves.clear();
    EXPECT_EQ(tree.in_flight(), 0);
  }
  EXPECT_EQ(most, 6);
  EXPECT_EQ(Sum(Visits(tree)), tree.root_visits());
}

TEST_P(TreeTest, ACancelledLeafIsAsIfNeverGathered) {
  const SearchOptions options = {.simulations = 50};
  Tree tree(options, start(), 1);
  Tree::Leaf leaf;
  while (!tree.done()) {
    if (tree.Gather(leaf) != Tree::Gathered::kLeaf) continue;
    tree.Cancel(leaf);
    EXPECT_EQ(tree.in_flight(), 0);
    ASSERT_EQ(tree.Gather(leaf), Tree::Gathered::kLeaf);
    tree.Apply(leaf, EvaluateOne(playouts_, leaf.state));
  }
  EXPECT_EQ(Visits(tree), SimpleSearch(start(), playouts_, options));
}

using TreeDeathTest = TreeTest;

INSTANTIATE_TEST_SUITE_P(OneVariant, TreeDeathTest,
                         testing::Values(Info(Variant::kFourTreasures)),
                         VariantTestName);

TEST_P(TreeDeathTest, AFinishedRootIsRefused) {
  const std::vector<State> game = RandomGame(GetParam().variant, 1);
  EXPECT_DEATH(Tree({}, game.back(), 1),
               "the root must not be a finished game");
  Tree tree({}, game[game.size() - 2], 1);
  for (const Action action : ListActions(tree.root())) {
    if (After(tree.root(), action) != game.back()) continue;
    tree.Advance(action);
    break;
  }
  ASSERT_TRUE(tree.finished());
  EXPECT_TRUE(tree.done());
  Tree::Leaf leaf;
  EXPECT_DEATH(tree.Gather(leaf), "the root must not be a finished game");
}

TEST_P(TreeDeathTest, MisuseOfLeavesIsRefused) {
  Tree tree({}, start(), 1);
  Tree::Leaf leaf;
  ASSERT_EQ(tree.Gather(leaf), Tree::Gathered::kLeaf);
  EXPECT_DEATH(tree.Advance(ListActions(start())[0]), "a leaf is in flight");
  Evaluation evaluation = EvaluateOne(uniform_, start());
  tree.Apply(leaf, evaluation);
  EXPECT_DEATH(tree.Apply(leaf, evaluation), "the leaf is not in flight");
  ASSERT_EQ(tree.Gather(leaf), Tree::Gathered::kLeaf);
  EXPECT_DEATH(tree.Apply(leaf, evaluation),
               "expected a prior for each legal action");
  tree.Cancel(leaf);
  EXPECT_DEATH(tree.Advance(kPass), "illegal action");
}

TEST_P(TreeTest, VisitsAreThoseOfTheSimpleTwinWithEveryOption) {
  HashEvaluator evaluator;
  const std::vector<SearchOptions> all = {
      {.simulations = 300},
      {.simulations = 300, .c_puct = 3.0f},
      {.simulations = 300, .first_play_urgency_reduction = 0},
      {.simulations = 300, .first_play_urgency_reduction = 0.4f},
      {.simulations = 300, .forced_playouts = 2.0f},
      {.simulations = 300, .utility = {.kind = UtilityKind::kMix}},
  };
  std::vector<std::vector<int>> found;
  for (const SearchOptions& options : all) {
    for (const State& root : {start(), middle()}) {
      Tree tree(options, root, 1);
      Search(tree, evaluator);
      EXPECT_EQ(Visits(tree), SimpleSearch(root, evaluator, options));
      found.push_back(Visits(tree));
    }
  }
  // The options make a difference where there is much to choose.
  EXPECT_LT(std::count(found.begin(), found.end(), found[0]), 4);
}

}  // namespace
}  // namespace tara::mcts
