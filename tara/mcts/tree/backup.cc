#include "tara/mcts/tree/backup.h"

#include <algorithm>

#include "tara/core/board.h"
#include "tara/mcts/tree/arena.h"
#include "tara/mcts/tree/node.h"

namespace tara::mcts {
namespace {

// Narrows the bounds of a node. Returns whether that changed them.
template <bool kShared>
bool Narrow(SearchData& data, TreeNode& node, MarginBounds proved) {
  const auto both = [proved](MarginBounds bounds) {
    return MarginBounds{.low = std::max(bounds.low, proved.low),
                        .high = std::min(bounds.high, proved.high)};
  };
  const auto before = Update<kShared>(node.bounds, both);
  const MarginBounds after = both(before);
  if (after == before) return false;
  if (data.Settles(after)) {
    const NodeShape shape = Update<kShared>(node.shape, [](NodeShape changed) {
      changed.word |= NodeShape::kSettled;
      return changed;
    });
    if (!shape.settled()) Add<kShared>(data.counts.settled, 1);
  }
  return true;
}

}  // namespace

template <bool kShared>
bool ProveFromChildren(SearchData& data, uint32_t parent) {
  TreeNode& node = data.store.node(parent);
  const NodeShape shape = Load<kShared>(node.shape);
  const bool is_red = shape.side() == kRed;
  // The best for the side to move, from the worst on.
  MarginBounds best = is_red ? MarginBounds{-kMaxMargin, -kMaxMargin}
                             : MarginBounds{kMaxMargin, kMaxMargin};
  bool known = false;
  data.store.ForEachEdge<kShared>(
      node, shape, [&](uint32_t, const TreeEdge& edge) {
        const auto child =
            Load<kShared>(data.store.node(Load<kShared>(edge.child)).bounds);
        known = known || child != MarginBounds{};
        best = is_red ? MarginBounds{std::max(best.low, child.low),
                                     std::max(best.high, child.high)}
                      : MarginBounds{std::min(best.low, child.low),
                                     std::min(best.high, child.high)};
      });
  if (!known) return false;
  if (!shape.bounds_below()) {
    Update<kShared>(node.shape, [](NodeShape changed) {
      changed.word |= NodeShape::kBoundsBelow;
      return changed;
    });
  }
  if (shape.num_edges() < shape.num_candidates()) {
    (is_red ? best.high : best.low) = is_red ? kMaxMargin : -kMaxMargin;
  }
  return Narrow<kShared>(data, node, best);
}

template <bool kShared>
bool ProveFromChild(SearchData& data, uint32_t parent, uint32_t child,
                    bool changed) {
  const auto bounds = Load<kShared>(data.store.node(child).bounds);
  if (bounds == MarginBounds{}) return false;
  if (changed) return ProveFromChildren<kShared>(data, parent);
  // Without a change of its own the child can only have news where another
  // parent has made them.
  TreeNode& node = data.store.node(parent);
  const bool is_red = Load<kShared>(node.shape).side() == kRed;
  return Narrow<kShared>(
      data, node,
      is_red ? MarginBounds{.low = bounds.low, .high = kMaxMargin}
             : MarginBounds{.low = -kMaxMargin, .high = bounds.high});
}

template bool ProveFromChild<false>(SearchData&, uint32_t, uint32_t, bool);
template bool ProveFromChild<true>(SearchData&, uint32_t, uint32_t, bool);
template bool ProveFromChildren<false>(SearchData&, uint32_t);
template bool ProveFromChildren<true>(SearchData&, uint32_t);

namespace {

// In a graph, other parents change what a child is worth. A node brings the
// values of all its edges up to date each time it has had so many visits more.
constexpr uint32_t kVisitsBetweenRefreshes = 8;

// Adds `count` results with a mean to the means over the simulations of a node,
// of which there are now `visits`. Threads that do so at the same time may lose
// results: these are for reports and the scale of exploration.
template <bool kShared>
void AddToMeans(TreeNode& node, uint32_t visits, const SimulationResult& mean,
                int count = 1) {
  auto means = Load<kShared>(node.means);
  const float share = static_cast<float>(count) / static_cast<float>(visits);
  means.square += (mean.square - means.square) * share;
  means.margin += (mean.margin - means.margin) * share;
  Store<kShared>(node.means, means);
}

// Brings what a node holds of its children up to date.
template <bool kShared>
void Refresh(SearchData& data, uint32_t index) {
  TreeNode& node = data.store.node(index);
  const NodeShape shape = Load<kShared>(node.shape);
  data.store.ForEachEdge<kShared>(
      node, shape, [&](uint32_t slot, const TreeEdge& edge) {
        if (Load<kShared>(edge.counts).visits == 0) return;
        int16_t value = 0;
        const EdgeCounts before = Update<kShared>(
            data.store.edge(slot).counts, [&](EdgeCounts counts) {
              value = static_cast<int16_t>(
                  data.ValueUnits<kShared>(data.store.node(edge.child)));
              counts.value = value;
              return counts;
            });
        Add<kShared>(node.totals,
                     static_cast<uint64_t>(int64_t{before.visits} *
                                           (int64_t{value} - before.value)));
      });
  if (data.options.proof) ProveFromChildren<kShared>(data, index);
}

}  // namespace

template <bool kShared>
void BackUp(SearchData& data, const std::vector<uint32_t>& path,
            const SimulationResult& result, bool landed) {
  // A leaf that was never visited tells its parent something new.
  bool changed = true;
  for (size_t i = path.size(); i-- > 0;) {
    const uint32_t parent = NodeBefore(data, path, i);
    TreeNode& node = data.store.node(parent);
    TreeEdge& edge = data.store.edge(path[i]);
    // Asked for anew at each attempt: of several threads the last one to count
    // its visit has seen what the others have brought.
    int value = 0;
    const EdgeCounts before =
        Update<kShared>(edge.counts, [&](EdgeCounts counts) {
          value = data.ValueUnits<kShared>(data.store.node(edge.child));
          ++counts.visits;
          counts.value = static_cast<int16_t>(value);
          counts.in_flight -= landed ? 1 : 0;
          return counts;
        });
    const int64_t added = (int64_t{before.visits} + 1) * value -
                          int64_t{before.visits} * before.value;
    const uint64_t totals = Add<kShared>(node.totals, PackTotals(1, added));
    const uint32_t visits = UnpackTotals(totals).visits + 1;
    AddToMeans<kShared>(node, visits, result);
    if (data.options.proof) {
      changed = ProveFromChild<kShared>(data, parent, edge.child,
                                        changed || before.visits == 0);
    }
    if (data.options.graph_search && visits % kVisitsBetweenRefreshes == 0) {
      Refresh<kShared>(data, parent);
    }
  }
}

void BackUpBlock(SearchData& data, const std::vector<uint32_t>& path,
                 const SimulationResult& mean, int count) {
  for (size_t i = path.size(); i-- > 0;) {
    const uint32_t parent = NodeBefore(data, path, i);
    TreeNode& node = data.store.node(parent);
    TreeEdge& edge = data.store.edge(path[i]);
    const bool is_last = i + 1 == path.size();
    int value = 0;
    const EdgeCounts before = Update<true>(edge.counts, [&](EdgeCounts counts) {
      value = data.ValueUnits<true>(data.store.node(edge.child));
      counts.visits += static_cast<uint32_t>(count);
      counts.value = static_cast<int16_t>(value);
      counts.in_flight =
          is_last ? 0 : static_cast<uint16_t>(counts.in_flight - 1);
      return counts;
    });
    const int64_t added = (int64_t{before.visits} + count) * value -
                          int64_t{before.visits} * before.value;
    const uint64_t totals =
        Add<true>(node.totals, PackTotals(static_cast<uint32_t>(count), added));
    const uint32_t visits =
        UnpackTotals(totals).visits + static_cast<uint32_t>(count);
    if (count > 0) AddToMeans<true>(node, visits, mean, count);
    if (data.options.proof) {
      ProveFromChild<true>(data, parent, edge.child, /*changed=*/true);
    }
  }
}

template <bool kShared>
void CountInFlight(SearchData& data, const std::vector<uint32_t>& path,
                   int added) {
  // From below: once nobody is in flight on an edge, nobody is below it.
  for (size_t i = path.size(); i-- > 0;) {
    Update<kShared>(
        data.store.edge(path[i]).counts, [added](EdgeCounts counts) {
          counts.in_flight = static_cast<uint16_t>(counts.in_flight + added);
          return counts;
        });
  }
}

template void BackUp<false>(SearchData&, const std::vector<uint32_t>&,
                            const SimulationResult&, bool);
template void BackUp<true>(SearchData&, const std::vector<uint32_t>&,
                           const SimulationResult&, bool);
template void CountInFlight<false>(SearchData&, const std::vector<uint32_t>&,
                                   int);
template void CountInFlight<true>(SearchData&, const std::vector<uint32_t>&,
                                  int);

}  // namespace tara::mcts
