#ifndef TARA_MCTS_TREE_SEARCH_DATA_H_
#define TARA_MCTS_TREE_SEARCH_DATA_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "tara/core/action.h"
#include "tara/core/outcome.h"
#include "tara/core/state.h"
#include "tara/mcts/choice/root_exploration.h"
#include "tara/mcts/options/search_options.h"
#include "tara/mcts/tree/node.h"
#include "tara/mcts/tree/node_store.h"
#include "tara/mcts/utility.h"

namespace tara::mcts {

// Counts of a tree's work since it was made. Not all of it is still in memory.
struct SearchCounts {
  int64_t transpositions = 0;  // edges made to a node that was there
  int64_t catch_ups = 0;       // simulations that ended where others had been
  int64_t cycles = 0;          // simulations that came back to their own way
  int64_t settled = 0;         // nodes whose utility was proved
  int64_t solved = 0;          // leaves that the solver answered
};

// The result of a simulation for the nodes above its leaf, except its value.
struct SimulationResult {
  float square;  // of the utility
  float margin;
};

// The data of a search: the tree, its options, its root. All values are Red's.
// A path is the edges from the root to a node.
struct SearchData {
  static constexpr uint32_t kRoot = 0;

  // Of a game with RuleOptions::compensation_halves.
  SearchData(const SearchOptions& search_options, int compensation_halves);

  SearchOptions options;
  Utility utility;
  // The utilities of margins, in units, from -kMaxMargin on.
  std::array<int16_t, kNumMargins> utility_units;

  NodeStore store;
  Transpositions transpositions;  // graph_search
  SearchCounts counts;
  int32_t in_flight = 0;  // leaves gathered and neither applied nor cancelled
  // A walk found no room (since the last Advance).
  bool was_full = false;
  // A leaf was cancelled: there may be edges without visits.
  bool was_cancelled = false;

  // The root: its priors without noise in the order of legal actions, and the
  // place of an action among them.
  std::vector<float> root_priors;
  std::array<uint16_t, kNumActions> root_places;
  // options.gumbel: the plan, from the root's evaluation on, and the visits
  // that the root's actions had before the plan, in the order of legal actions.
  std::optional<GumbelRoot> gumbel;
  std::vector<uint32_t> gumbel_base_visits;
  std::vector<GumbelRoot::ActionStats> gumbel_stats;  // kept for its memory

  int16_t UtilityUnits(int red_margin) const {
    return utility_units[red_margin + kMaxMargin];
  }

  bool Settles(MarginBounds bounds) const {
    return UtilityUnits(bounds.low) == UtilityUnits(bounds.high);
  }

  // Returns the value of a node: its mean, within its proved bounds.
  float ValueOf(const TreeNode& node) const {
    if (node.status == NodeStatus::kTerminal) {
      return static_cast<float>(UtilityUnits(node.bounds.low)) * kValueUnit;
    }
    const float mean = UnpackTotals(node.totals).Mean();
    return std::clamp(
        mean, static_cast<float>(UtilityUnits(node.bounds.low)) * kValueUnit,
        static_cast<float>(UtilityUnits(node.bounds.high)) * kValueUnit);
  }

  // The same in units. REQUIRES: the node was evaluated or is terminal.
  int ValueUnits(const TreeNode& node) const {
    if (node.status == NodeStatus::kTerminal) {
      return UtilityUnits(node.bounds.low);
    }
    const int mean = UnpackTotals(node.totals).MeanUnits();
    if (!options.proof) return mean;
    return std::clamp<int>(mean, UtilityUnits(node.bounds.low),
                           UtilityUnits(node.bounds.high));
  }

  // Returns the root's own evaluation, for Red.
  float RootOwnValue() const {
    const TreeNode& root = store.node(kRoot);
    int64_t sum = UnpackTotals(root.totals).sum;
    store.ForEachEdge(root, [&](uint32_t, const TreeEdge& edge) {
      sum -= int64_t{edge.counts.visits} * edge.counts.value;
    });
    return static_cast<float>(sum) * kValueUnit;
  }

  // Returns the node before the i-th edge of a path.
  uint32_t NodeBefore(absl::Span<const uint32_t> path, size_t i) const {
    return i == 0 ? kRoot : store.edge(path[i - 1]).child;
  }

  // Makes a node the end of all lines through it.
  void MakeTerminal(TreeNode& node, int red_margin) const;

  // Adds a simulation to the edges of a path and the nodes before them; with
  // proof, also their new bounds: the side to move has at least the best low
  // bound of any action, and, once all actions have an edge, at most the best
  // high bound. `landed`: the edges have counted it as in flight.
  void BackUp(absl::Span<const uint32_t> path, const SimulationResult& result,
              bool landed);

  // Adds to the leaves in flight on the edges of a path, and in all.
  void CountInFlight(absl::Span<const uint32_t> path, int added);

 private:
  // Narrows the bounds of a node; settles it where they settle its utility.
  // Returns whether that changed them. So do the two functions that follow.
  bool Narrow(TreeNode& node, MarginBounds proved);
  // From the bounds of all children. O(edges of the node).
  bool ProveFromChildren(uint32_t parent);
  // `changed`: the child's bounds may be new to the parent.
  bool ProveFromChild(uint32_t parent, uint32_t child, bool changed);
  // Brings a node's copies of its children's values up to date.
  void Refresh(uint32_t index);
};

}  // namespace tara::mcts

#endif  // TARA_MCTS_TREE_SEARCH_DATA_H_
