#include "tara/mcts/run_searches.h"

#include <vector>

#include "tara/base/check.h"
#include "tara/core/state.h"

namespace tara {
namespace {

// One batch of leaves. Slots are reused: their memory lives through a run.
struct Batch {
  size_t size = 0;
  std::vector<Tree*> owners;
  std::vector<Tree::Leaf> leaves;
  std::vector<State> states;
  std::vector<Evaluation> evaluations;

  Tree::Leaf& next_leaf() {
    if (size == leaves.size()) leaves.emplace_back();
    return leaves[size];
  }
  void Add(Tree* tree) {
    owners.push_back(tree);
    states.push_back(leaves[size++].state);
  }
  void Clear() {
    size = 0;
    owners.clear();
    states.clear();
  }
};

// Adds up to `max_leaves` leaves of the tree to the batch.
void GatherLeaves(Tree* tree, int max_leaves, Batch& batch) {
  while (tree->in_flight() < max_leaves &&
         tree->root_visits() + tree->in_flight() <
             tree->options().simulations) {
    switch (tree->Gather(batch.next_leaf())) {
      case Tree::Gathered::kLeaf:
        batch.Add(tree);
        break;
      case Tree::Gathered::kFinished:
        break;
      case Tree::Gathered::kInFlight:
        return;
    }
  }
}

}  // namespace

absl::Status RunSearches(absl::Span<Tree* const> trees, Evaluator& evaluator,
                         const RunOptions& options) {
  TARA_CHECK(options.leaves_per_tree >= 1, "a batch has leaves");
  std::vector<Tree*> active(trees.begin(), trees.end());
  Batch batch;
  while (true) {
    std::erase_if(active, [](Tree* tree) { return tree->done(); });
    batch.Clear();
    for (Tree* tree : active) {
      GatherLeaves(tree, options.leaves_per_tree, batch);
    }
    // Trees without a leaf have just finished: their walks ended the game.
    if (batch.size == 0) return absl::OkStatus();
    if (batch.evaluations.size() < batch.size) {
      batch.evaluations.resize(batch.size);
    }
    const absl::Status status = evaluator.Evaluate(
        batch.states, absl::MakeSpan(batch.evaluations.data(), batch.size));
    for (size_t i = 0; i < batch.size; ++i) {
      if (status.ok()) {
        batch.owners[i]->Apply(batch.leaves[i], batch.evaluations[i]);
      } else {
        batch.owners[i]->Cancel(batch.leaves[i]);
      }
    }
    if (!status.ok()) return status;
  }
}

}  // namespace tara
