#ifndef TARA_MCTS_TREE_BACKUP_H_
#define TARA_MCTS_TREE_BACKUP_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tara/mcts/tree/search_data.h"

namespace tara::mcts {

// Carries a child's proved bounds up to its parent: the side to move has at
// least the best low bound of any action, and, once all actions have an edge,
// at most the best high bound. Settles the parent where its bounds settle its
// utility.
//
// `changed`: the child's bounds may have changed since the parent last saw
// them. Returns whether the parent's have.
bool ProveFromChild(AnyTree auto tree, uint32_t parent, uint32_t child,
                    bool changed);

// The same from all children. O(edges of the node).
bool ProveFromChildren(AnyTree auto tree, uint32_t parent);

// The result of a simulation for the nodes above its leaf, besides its value.
struct SimulationResult {
  float square;  // of the utility
  float margin;
};

// Returns the node before the i-th edge of a path from where walks start.
uint32_t NodeBefore(AnyTree auto tree, const std::vector<uint32_t>& path,
                    size_t i) {
  return i == 0 ? tree->start : tree.edge(path[i - 1]).child;
}

// Adds a simulation to the edges of a path and the nodes before them; with
// proof, also their new bounds. `landed`: the edges have counted it as in
// flight.
void BackUp(AnyTree auto tree, const std::vector<uint32_t>& path,
            const SimulationResult& result, bool landed);

// Adds `count` simulations that one thread made below the last edge of a path,
// which it had claimed, and whose results have a mean; ends the claim.
void BackUpBlock(SharedTree tree, const std::vector<uint32_t>& path,
                 const SimulationResult& mean, int count);

// Adds to the leaves in flight on the edges of a path.
void CountInFlight(AnyTree auto tree, const std::vector<uint32_t>& path,
                   int added);

}  // namespace tara::mcts

#endif  // TARA_MCTS_TREE_BACKUP_H_
