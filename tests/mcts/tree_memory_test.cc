// What the search asks of the heap.

#include <cstdint>
#include <cstdlib>
#include <new>

#include "gtest/gtest.h"
#include "tara/core/action.h"
#include "tara/core/legal_set.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/tree/tree.h"
#include "tests/mcts/positions.h"

namespace {

// Counts what the whole program asks of the heap.
int64_t allocations = 0;

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

namespace tara {
namespace {

using TreeMemoryTest = testing::TestWithParam<VariantInfo>;

INSTANTIATE_TEST_SUITE_P(AllVariants, TreeMemoryTest,
                         testing::ValuesIn(kVariants), VariantTestName);

TEST_P(TreeMemoryTest, OnlyTheArenasGrowthAllocates) {
  Tree tree({.simulations = 1000}, InitialState(GetParam().variant), 1);
  Tree::Leaf leaf;
  Evaluation evaluation;
  evaluation.priors.reserve(kNumActions);
  leaf.path.reserve(100);
  // Re-rooting makes the two sets of arenas change places: after a few searches
  // both are as large as searches of this game need them.
  for (int search = 0; search < 6 && !tree.finished(); ++search) {
    int64_t allocated = 0;
    while (!tree.done()) {
      const int64_t before = allocations;
      if (tree.Gather(leaf) == Tree::Gathered::kLeaf) {
        const int legal = LegalActions(leaf.state).Count();
        evaluation.priors.assign(legal, 1.0f / static_cast<float>(legal));
        tree.Apply(leaf, evaluation);
      }
      // With its evaluation the root is prepared, which may allocate.
      if (!leaf.path.empty()) allocated += allocations - before;
    }
    // Four arenas that double from 64 values on, to some ten thousand; later
    // searches may still need a little more than those before.
    EXPECT_LE(allocated, search < 4 ? 4 * 8 : 3);
    tree.Advance(tree.principal_variation()[0]);
  }
}

}  // namespace
}  // namespace tara
