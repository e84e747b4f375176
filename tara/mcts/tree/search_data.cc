#include "tara/mcts/tree/search_data.h"

#include <algorithm>

#include "tara/core/board.h"
#include "tara/mcts/tree/node.h"

namespace tara::mcts {
namespace {

// In a graph, other parents change a child's value. A node updates the values
// of all its edges each time after this many further visits.
constexpr uint32_t kVisitsBetweenRefreshes = 8;

// Adds a result to the means of a node, which has `visits` visits now.
void AddToMeans(TreeNode& node, uint32_t visits,
                const SimulationResult& result) {
  const float share = 1.0f / static_cast<float>(visits);
  node.means.square += (result.square - node.means.square) * share;
  node.means.margin += (result.margin - node.means.margin) * share;
}

}  // namespace

SearchData::SearchData(const SearchOptions& search_options,
                       int compensation_halves)
    : options(search_options),
      utility(search_options.utility, compensation_halves) {
  for (int margin = -kMaxMargin; margin <= kMaxMargin; ++margin) {
    utility_units[margin + kMaxMargin] =
        QuantizeValue(utility.OfRedMargin(margin));
  }
}

void SearchData::MakeTerminal(TreeNode& node, int red_margin) const {
  const auto margin = static_cast<int8_t>(red_margin);
  node.bounds = {.low = margin, .high = margin};
  const float utility =
      static_cast<float>(UtilityUnits(red_margin)) * kValueUnit;
  node.means = {.square = utility * utility,
                .margin = static_cast<float>(red_margin)};
  node.status = NodeStatus::kTerminal;
  node.settled = true;
}

bool SearchData::Narrow(TreeNode& node, MarginBounds proved) {
  const MarginBounds before = node.bounds;
  node.bounds = {.low = std::max(before.low, proved.low),
                 .high = std::min(before.high, proved.high)};
  if (node.bounds == before) return false;
  if (Settles(node.bounds)) {
    counts.settled += !node.settled;
    node.settled = true;
  }
  return true;
}

bool SearchData::ProveFromChildren(uint32_t parent) {
  TreeNode& node = store.node(parent);
  const bool is_red = node.side == kRed;
  // The best for the side to move, from the worst on.
  MarginBounds best = is_red ? MarginBounds{-kMaxMargin, -kMaxMargin}
                             : MarginBounds{kMaxMargin, kMaxMargin};
  bool known = false;
  store.ForEachEdge(node, [&](uint32_t, const TreeEdge& edge) {
    const MarginBounds child = store.node(edge.child).bounds;
    known = known || child != MarginBounds{};
    best = is_red ? MarginBounds{std::max(best.low, child.low),
                                 std::max(best.high, child.high)}
                  : MarginBounds{std::min(best.low, child.low),
                                 std::min(best.high, child.high)};
  });
  if (!known) return false;
  node.bounds_below = true;
  if (node.num_edges < node.num_candidates) {
    (is_red ? best.high : best.low) = is_red ? kMaxMargin : -kMaxMargin;
  }
  return Narrow(node, best);
}

bool SearchData::ProveFromChild(uint32_t parent, uint32_t child, bool changed) {
  const MarginBounds bounds = store.node(child).bounds;
  if (bounds == MarginBounds{}) return false;
  if (changed) return ProveFromChildren(parent);
  // The child's bounds did not change now, but another parent may have changed
  // them.
  TreeNode& node = store.node(parent);
  return Narrow(node,
                node.side == kRed
                    ? MarginBounds{.low = bounds.low, .high = kMaxMargin}
                    : MarginBounds{.low = -kMaxMargin, .high = bounds.high});
}

void SearchData::Refresh(uint32_t index) {
  TreeNode& node = store.node(index);
  store.ForEachEdge(node, [&](uint32_t slot, const TreeEdge& edge) {
    if (edge.counts.visits == 0) return;
    const int value = ValueUnits(store.node(edge.child));
    node.totals += static_cast<uint64_t>(int64_t{edge.counts.visits} *
                                         (value - edge.counts.value));
    store.edge(slot).counts.value = static_cast<int16_t>(value);
  });
  if (options.proof) ProveFromChildren(index);
}

void SearchData::BackUp(absl::Span<const uint32_t> path,
                        const SimulationResult& result, bool landed) {
  // The bounds of a leaf that was never visited are new to its parent.
  bool changed = true;
  for (size_t i = path.size(); i-- > 0;) {
    const uint32_t parent = NodeBefore(path, i);
    TreeNode& node = store.node(parent);
    TreeEdge& edge = store.edge(path[i]);
    const EdgeCounts before = edge.counts;
    const int value = ValueUnits(store.node(edge.child));
    edge.counts = {
        .visits = before.visits + 1,
        .value = static_cast<int16_t>(value),
        .in_flight = static_cast<uint16_t>(before.in_flight - int{landed})};
    const int64_t added = (int64_t{before.visits} + 1) * value -
                          int64_t{before.visits} * before.value;
    node.totals += PackTotals(1, added);
    const uint32_t visits = UnpackTotals(node.totals).visits;
    AddToMeans(node, visits, result);
    if (options.proof) {
      changed =
          ProveFromChild(parent, edge.child, changed || before.visits == 0);
    }
    if (options.graph_search && visits % kVisitsBetweenRefreshes == 0) {
      Refresh(parent);
    }
  }
}

void SearchData::CountInFlight(absl::Span<const uint32_t> path, int added) {
  in_flight += added;
  for (const uint32_t edge : path) {
    EdgeCounts& counts_of_edge = store.edge(edge).counts;
    counts_of_edge.in_flight =
        static_cast<uint16_t>(counts_of_edge.in_flight + added);
  }
}

}  // namespace tara::mcts
