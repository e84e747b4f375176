#include "tara/mcts/tree/proof.h"

#include <algorithm>

#include "tara/core/board.h"

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

}  // namespace tara::mcts
