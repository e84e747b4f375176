#include "tara/mcts/tree/line_after.h"

#include <algorithm>
#include <cstdint>

#include "tara/mcts/tree/node.h"
#include "tara/mcts/tree/node_store.h"
#include "tara/mcts/tree/search_data.h"

namespace tara::mcts {
namespace {

// Returns the most visited edge of a node that was visited at all; of equals
// the first legal action. Null: there is none.
const TreeEdge* MostVisited(const NodeStore& store, uint32_t node) {
  const TreeEdge* best = nullptr;
  store.ForEachEdge(store.node(node), store.node(node).shape,
                    [&](uint32_t, const TreeEdge& edge) {
                      if (edge.counts.visits == 0) return;
                      if (best == nullptr ||
                          edge.counts.visits > best->counts.visits ||
                          (edge.counts.visits == best->counts.visits &&
                           edge.action_index < best->action_index)) {
                        best = &edge;
                      }
                    });
  return best;
}

}  // namespace

std::vector<Action> LineAfter(const Tree& tree, Action action) {
  const NodeStore& store = tree.data().store;
  const TreeNode& root = store.node(SearchData::kRoot);
  std::vector<Action> line = {action};
  const TreeEdge* next = nullptr;
  store.ForEachEdge(root, root.shape, [&](uint32_t, const TreeEdge& edge) {
    if (edge.action() == action && edge.counts.visits > 0) next = &edge;
  });
  std::vector<uint32_t> seen = {SearchData::kRoot};  // graphs have cycles
  while (next != nullptr) {
    const uint32_t node = next->child;
    if (std::find(seen.begin(), seen.end(), node) != seen.end()) break;
    seen.push_back(node);
    next = store.node(node).shape.status() == NodeStatus::kExpanded
               ? MostVisited(store, node)
               : nullptr;
    if (next != nullptr) line.push_back(next->action());
  }
  return line;
}

}  // namespace tara::mcts
