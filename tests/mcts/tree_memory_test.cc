// What the search asks of the heap.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <new>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tara/core/action.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/mcts/options/search_options.h"
#include "tara/mcts/search/search_session.h"
#include "tara/mcts/solver/endgame_solver.h"
#include "tara/mcts/tree/tree.h"
#include "tara/train/config/config.h"
#include "tara/train/config/config_options.h"
#include "tests/mcts/positions.h"
#include "tests/mcts/tree_invariants.h"

namespace {

// Counts what the whole program asks of the heap.
std::atomic<int64_t> allocations = 0;

void* Allocate(size_t bytes, size_t alignment) {
  ++allocations;
  void* const memory = std::aligned_alloc(
      alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr) std::abort();
  return memory;
}

}  // namespace

void* operator new(size_t bytes) { return Allocate(bytes, 16); }
void* operator new(size_t bytes, std::align_val_t alignment) {
  return Allocate(bytes, static_cast<size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace tara::mcts {
namespace {

// Search options by what has them: the shipped configs, and others.
std::map<std::string, SearchOptions> AllOptions() {
  std::map<std::string, SearchOptions> all = {
      {"default", {}},
      {"several actions forced", {.forced_playouts = 2}},
      {"graph", {.graph_search = true}},
      {"noise", {.dirichlet_fraction = 0.25f}},
      {"solver", {.proof = true, .solver_vacant_hills = 4}},
      {"all",
       {.gumbel = true,
        .graph_search = true,
        .proof = true,
        .solver_vacant_hills = 4}},
  };
  for (const auto& file : std::filesystem::directory_iterator("configs")) {
    if (file.path().extension() != ".textproto") continue;
    const auto config = train::LoadTrainConfig(file.path(), {});
    EXPECT_TRUE(config.ok()) << config.status();
    const auto options = train::ToSearchOptions(config->self_play().search());
    EXPECT_TRUE(options.ok()) << options.status();
    all[file.path()] = *options;
  }
  return all;
}

class TreeMemoryTest : public testing::TestWithParam<VariantInfo> {
 protected:
  // The start, and a position from which a search meets the game's end.
  std::vector<State> Roots() const {
    const std::vector<State> game = RandomGame(GetParam().variant, 3);
    return {game[0], game[game.size() - std::min<size_t>(10, game.size())]};
  }
};

INSTANTIATE_TEST_SUITE_P(AllVariants, TreeMemoryTest,
                         testing::ValuesIn(kVariants), VariantTestName);

TEST_P(TreeMemoryTest, OnlyTheArenasGrowthAllocates) {
  const std::map<std::string, SearchOptions> all = AllOptions();
  ASSERT_GE(all.size(), 7u);
  for (const auto& [name, given] : all) {
    for (const State& root : Roots()) {
      // Kings may wander for long.
      SharedSolver solver({.node_limit = 2000});
      SearchOptions options = given;
      options.simulations = 1000;
      options.solver = &solver;
      Tree tree(options, root, 1);
      Tree::Leaf leaf;
      Evaluation evaluation;
      evaluation.priors.reserve(kNumActions);
      leaf.path.reserve(100);
      // Re-rooting makes the two sets of arenas change places: after a few
      // searches both are as large as searches of this game need them.
      for (int search = 0; search < 6 && !tree.finished(); ++search) {
        int64_t allocated = 0;
        while (!tree.done()) {
          const int64_t before = allocations;
          if (tree.Gather(leaf) == Tree::Gathered::kLeaf) {
            const int legal = LegalActions(leaf.state).Count();
            evaluation.priors.assign(legal, 1.0f / static_cast<float>(legal));
            evaluation.draw = 1;
            tree.Apply(leaf, evaluation);
            // With its evaluation the root is prepared, which may allocate.
            if (leaf.path.empty()) continue;
          }
          allocated += allocations - before;
        }
        // Four arenas and the transpositions, which double from 64 values on,
        // to some ten thousand, and the solver with its table; later searches
        // may still need a little more than those before.
        EXPECT_LE(allocated, search < 4 ? 5 * 8 + 8 : 3)
            << name << ", search " << search;
        tree.Advance(tree.settled() ? ProvedAction(tree)
                                    : tree.root_actions().front().action);
      }
    }
  }
}

TEST_P(TreeMemoryTest, SeveralThreadsAllocateLittleMore) {
  for (const bool graph : {false, true}) {
    for (const State& root : Roots()) {
      EndgameSolver solver({.node_limit = 2000});
      UniformEvaluator uniform;
      SearchSession session({.search = {.simulations = 20000,
                                        .dirichlet_fraction = 0.25f,
                                        .graph_search = graph,
                                        .proof = true,
                                        .solver_vacant_hills = 4},
                             .threads = 3,
                             .leaves_per_game = 4},
                            &uniform, &solver);
      session.GoTo(root, {}, [] { return 1; });
      const int64_t before = allocations;
      ASSERT_TRUE(session.Search({}).ok());
      // Arenas that double: nodes and states to 2^15, candidates to 2^20, edges
      // to 2^17, transpositions to 2^16. The root, the solver. And of each
      // thread some arrays, and the paths and priors of four leaves, which grow
      // some seven times each.
      EXPECT_LE(allocations - before,
                2 * 10 + 15 + 12 + 9 + 20 + 3 * (10 + 4 * 2 * 7));
    }
  }
}

}  // namespace
}  // namespace tara::mcts
