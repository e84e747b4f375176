#include "tara/mcts/tree/backup.h"

#include <algorithm>

#include "tara/core/board.h"
#include "tara/mcts/tree/memory.h"
#include "tara/mcts/tree/node.h"

namespace tara::mcts {
namespace {

// Narrows the bounds of a node. Returns whether that changed them.
bool Narrow(AnyTree auto tree, TreeNode& node, MarginBounds proved) {
  const auto both = [proved](MarginBounds bounds) {
    return MarginBounds{.low = std::max(bounds.low, proved.low),
                        .high = std::min(bounds.high, proved.high)};
  };
  const auto before = tree.Update(node.bounds, both);
  const MarginBounds after = both(before);
  if (after == before) return false;
  if (tree->Settles(after)) {
    const NodeShape shape = tree.Update(node.shape, [](NodeShape changed) {
      changed.word |= NodeShape::kSettled;
      return changed;
    });
    if (!shape.settled()) tree.Add(tree->counts.settled, 1);
  }
  return true;
}

}  // namespace

bool ProveFromChildren(AnyTree auto tree, uint32_t parent) {
  TreeNode& node = tree.node(parent);
  const NodeShape shape = tree.Load(node.shape);
  const bool is_red = shape.side() == kRed;
  // The best for the side to move, from the worst on.
  MarginBounds best = is_red ? MarginBounds{-kMaxMargin, -kMaxMargin}
                             : MarginBounds{kMaxMargin, kMaxMargin};
  bool known = false;
  tree.ForEachEdge(node, shape, [&](uint32_t, const TreeEdge& edge) {
    const auto child = tree.Load(tree.node(tree.Load(edge.child)).bounds);
    known = known || child != MarginBounds{};
    best = is_red ? MarginBounds{std::max(best.low, child.low),
                                 std::max(best.high, child.high)}
                  : MarginBounds{std::min(best.low, child.low),
                                 std::min(best.high, child.high)};
  });
  if (!known) return false;
  if (!shape.bounds_below()) {
    tree.Update(node.shape, [](NodeShape changed) {
      changed.word |= NodeShape::kBoundsBelow;
      return changed;
    });
  }
  if (shape.num_edges() < shape.num_candidates()) {
    (is_red ? best.high : best.low) = is_red ? kMaxMargin : -kMaxMargin;
  }
  return Narrow(tree, node, best);
}

bool ProveFromChild(AnyTree auto tree, uint32_t parent, uint32_t child,
                    bool changed) {
  const auto bounds = tree.Load(tree.node(child).bounds);
  if (bounds == MarginBounds{}) return false;
  if (changed) return ProveFromChildren(tree, parent);
  // Without a change of its own the child can only have news where another
  // parent has made them.
  TreeNode& node = tree.node(parent);
  const bool is_red = tree.Load(node.shape).side() == kRed;
  return Narrow(tree, node,
                is_red ? MarginBounds{.low = bounds.low, .high = kMaxMargin}
                       : MarginBounds{.low = -kMaxMargin, .high = bounds.high});
}

namespace {

// In a graph, other parents change a child's value. A node brings the values of
// all its edges up to date each time it has had so many visits more.
constexpr uint32_t kVisitsBetweenRefreshes = 8;

// Adds `count` results with a mean to the means over the simulations of a node,
// of which there are now `visits`. Threads that do so at the same time may lose
// results: these are for reports and the scale of exploration.
void AddToMeans(AnyTree auto tree, TreeNode& node, uint32_t visits,
                const SimulationResult& mean, int count = 1) {
  auto means = tree.Load(node.means);
  const float share = static_cast<float>(count) / static_cast<float>(visits);
  means.square += (mean.square - means.square) * share;
  means.margin += (mean.margin - means.margin) * share;
  tree.Store(node.means, means);
}

// Brings a node's copies of its children's values up to date.
void Refresh(AnyTree auto tree, uint32_t index) {
  TreeNode& node = tree.node(index);
  const NodeShape shape = tree.Load(node.shape);
  tree.ForEachEdge(node, shape, [&](uint32_t slot, const TreeEdge& edge) {
    if (tree.Load(edge.counts).visits == 0) return;
    int16_t value = 0;
    const EdgeCounts before =
        tree.Update(tree.edge(slot).counts, [&](EdgeCounts counts) {
          value = static_cast<int16_t>(tree.ValueUnits(tree.node(edge.child)));
          counts.value = value;
          return counts;
        });
    tree.Add(node.totals,
             static_cast<uint64_t>(int64_t{before.visits} *
                                   (int64_t{value} - before.value)));
  });
  if (tree->options.proof) ProveFromChildren(tree, index);
}

}  // namespace

void BackUp(AnyTree auto tree, const std::vector<uint32_t>& path,
            const SimulationResult& result, bool landed) {
  // The bounds of a leaf that was never visited are new to its parent.
  bool changed = true;
  for (size_t i = path.size(); i-- > 0;) {
    const uint32_t parent = NodeBefore(tree, path, i);
    TreeNode& node = tree.node(parent);
    TreeEdge& edge = tree.edge(path[i]);
    // Asked for anew at each attempt: of several threads the last one to count
    // its visit has seen what the others have brought.
    int value = 0;
    const EdgeCounts before = tree.Update(edge.counts, [&](EdgeCounts counts) {
      value = tree.ValueUnits(tree.node(edge.child));
      ++counts.visits;
      counts.value = static_cast<int16_t>(value);
      counts.in_flight -= landed ? 1 : 0;
      return counts;
    });
    const int64_t added = (int64_t{before.visits} + 1) * value -
                          int64_t{before.visits} * before.value;
    const uint64_t totals = tree.Add(node.totals, PackTotals(1, added));
    const uint32_t visits = UnpackTotals(totals).visits + 1;
    AddToMeans(tree, node, visits, result);
    if (tree->options.proof) {
      changed = ProveFromChild(tree, parent, edge.child,
                               changed || before.visits == 0);
    }
    if (tree->options.graph_search && visits % kVisitsBetweenRefreshes == 0) {
      Refresh(tree, parent);
    }
  }
}

void BackUpBlock(SharedTree tree, const std::vector<uint32_t>& path,
                 const SimulationResult& mean, int count) {
  for (size_t i = path.size(); i-- > 0;) {
    const uint32_t parent = NodeBefore(tree, path, i);
    TreeNode& node = tree.node(parent);
    TreeEdge& edge = tree.edge(path[i]);
    const bool is_last = i + 1 == path.size();
    int value = 0;
    const EdgeCounts before = tree.Update(edge.counts, [&](EdgeCounts counts) {
      value = tree.ValueUnits(tree.node(edge.child));
      counts.visits += static_cast<uint32_t>(count);
      counts.value = static_cast<int16_t>(value);
      counts.in_flight =
          is_last ? 0 : static_cast<uint16_t>(counts.in_flight - 1);
      return counts;
    });
    const int64_t added = (int64_t{before.visits} + count) * value -
                          int64_t{before.visits} * before.value;
    const uint64_t totals =
        tree.Add(node.totals, PackTotals(static_cast<uint32_t>(count), added));
    const uint32_t visits =
        UnpackTotals(totals).visits + static_cast<uint32_t>(count);
    if (count > 0) AddToMeans(tree, node, visits, mean, count);
    if (tree->options.proof) {
      ProveFromChild(tree, parent, edge.child, /*changed=*/true);
    }
  }
}

void CountInFlight(AnyTree auto tree, const std::vector<uint32_t>& path,
                   int added) {
  // From below: once nobody is in flight on an edge, nobody is below it.
  for (size_t i = path.size(); i-- > 0;) {
    tree.Update(tree.edge(path[i]).counts, [added](EdgeCounts counts) {
      counts.in_flight = static_cast<uint16_t>(counts.in_flight + added);
      return counts;
    });
  }
}

template void BackUp(OwnTree, const std::vector<uint32_t>&,
                     const SimulationResult&, bool);
template void BackUp(SharedTree, const std::vector<uint32_t>&,
                     const SimulationResult&, bool);
template void CountInFlight(OwnTree, const std::vector<uint32_t>&, int);
template void CountInFlight(SharedTree, const std::vector<uint32_t>&, int);

}  // namespace tara::mcts
