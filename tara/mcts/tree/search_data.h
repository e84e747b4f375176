#ifndef TARA_MCTS_TREE_SEARCH_DATA_H_
#define TARA_MCTS_TREE_SEARCH_DATA_H_

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "absl/types/span.h"
#include "tara/core/action.h"
#include "tara/core/outcome.h"
#include "tara/core/state.h"
#include "tara/mcts/choice/gumbel_root.h"
#include "tara/mcts/options/search_options.h"
#include "tara/mcts/tree/memory.h"
#include "tara/mcts/tree/node.h"
#include "tara/mcts/tree/node_store.h"
#include "tara/mcts/tree/transpositions.h"
#include "tara/mcts/utility.h"

namespace tara::mcts {

// A leaf in flight, from Gather to Apply or Cancel. Reusing one for the next
// Gather reuses its memory.
struct SearchLeaf {
  State state;
  std::vector<uint32_t> path;  // edges from the root; empty: the root
};

// Counts of a tree's work since it was made. Not all of it is still in memory.
struct SearchCounts {
  int64_t transpositions = 0;  // edges made to a node that was there
  int64_t catch_ups = 0;       // simulations that ended where others had been
  int64_t cycles = 0;          // simulations that came back to their own way
  int64_t settled = 0;         // nodes whose utility was proved
  int64_t solved = 0;          // leaves that the solver answered
};

// The data of a search: the tree, its options, its root. All values are Red's.
struct SearchData {
  static constexpr uint32_t kRoot = 0;

  // Of a game with RuleOptions::compensation_halves.
  SearchData(const SearchOptions& search_options, int compensation_halves);

  SearchOptions options;
  Utility utility;
  // The utilities of margins, in units, from -kMaxMargin on.
  std::array<int16_t, kNumMargins> utility_units;

  // Where walks start: kRoot, but in a thread's view of a part of a tree.
  uint32_t start = kRoot;

  NodeStore store;
  Transpositions transpositions;  // graph_search
  // In cache lines of their own: what several threads write.
  alignas(64) SearchCounts counts;
  // Leaves gathered and neither applied nor cancelled; while several threads
  // share the tree, the walks and leaves that they may have at a time.
  alignas(64) int32_t in_flight = 0;
  int32_t shared_walks = 0;
  // A walk found no room (since the last Advance).
  bool was_full = false;
  // A leaf was cancelled: there may be edges without visits.
  bool was_cancelled = false;

  // The root: its priors without noise in the order of legal actions, and the
  // place of an action among them.
  std::vector<float> root_priors;
  std::array<uint16_t, kNumActions> root_places;
  // options.gumbel: the plan, from the root's evaluation on, and the visits
  // that the root's actions had before it, in the order of legal actions.
  std::optional<GumbelRoot> gumbel;
  std::vector<uint32_t> gumbel_base_visits;
  std::vector<GumbelRoot::ActionStats> gumbel_stats;  // kept for its memory

  int16_t UtilityUnits(int red_margin) const {
    return utility_units[red_margin + kMaxMargin];
  }

  bool Settles(MarginBounds bounds) const {
    return UtilityUnits(bounds.low) == UtilityUnits(bounds.high);
  }

  // Returns the value of a node: its mean, within its proved bounds. One owner.
  float ValueOf(const TreeNode& node) const {
    if (node.shape.status() == NodeStatus::kTerminal) {
      return static_cast<float>(UtilityUnits(node.bounds.low)) * kValueUnit;
    }
    const float mean = UnpackTotals(node.totals).Mean();
    return std::clamp(
        mean, static_cast<float>(UtilityUnits(node.bounds.low)) * kValueUnit,
        static_cast<float>(UtilityUnits(node.bounds.high)) * kValueUnit);
  }

  // Returns the root's own evaluation, for Red. One owner.
  float RootOwnValue() const {
    const TreeNode& root = store.node(kRoot);
    int64_t sum = UnpackTotals(root.totals).sum;
    store.ForEachEdge(root, root.shape, [&](uint32_t, const TreeEdge& edge) {
      sum -= int64_t{edge.counts.visits} * edge.counts.value;
    });
    return static_cast<float>(sum) * kValueUnit;
  }
};

inline SearchData::SearchData(const SearchOptions& search_options,
                              int compensation_halves)
    : options(search_options),
      utility(search_options.utility, compensation_halves) {
  for (int margin = -kMaxMargin; margin <= kMaxMargin; ++margin) {
    utility_units[margin + kMaxMargin] =
        QuantizeValue(utility.OfRedMargin(margin));
  }
}

// A tree as its only owner sees it, or as one of several threads that share it
// does (kSharing): what others may write meanwhile is read and written
// atomically (memory.h). A reference; the functions of a search take one by
// value.
template <bool kSharing, typename Data = SearchData>
class TreeView {
 public:
  static constexpr bool kShared = kSharing;

  explicit TreeView(Data& data) : data_(&data) {}
  Data* operator->() const { return data_; }

  auto& node(uint32_t index) const { return data_->store.node(index); }
  auto& edge(uint32_t index) const { return data_->store.edge(index); }
  const State& state(uint32_t node) const { return data_->store.state(node); }

  template <typename T>
  static T Load(const T& value) {
    return mcts::Load<kShared>(value);
  }
  template <typename T>
  static void Store(T& value, std::type_identity_t<T> stored) {
    mcts::Store<kShared>(value, stored);
  }
  template <typename T>
  static T Add(T& value, std::type_identity_t<T> added) {
    return mcts::Add<kShared>(value, added);
  }
  template <typename T, typename Change>
  static T Update(T& value, Change&& change) {
    return mcts::Update<kShared>(value, change);
  }
  NodeTotals LoadTotals(const TreeNode& node) const {
    return UnpackTotals(Load(node.totals));
  }

  // As those of NodeStore.
  uint32_t AddNode(const State& state) const {
    return data_->store.template AddNode<kShared>(state);
  }
  void AddCandidates(uint32_t node, absl::Span<const float> priors) const {
    data_->store.template AddCandidates<kShared>(node, priors);
  }
  Candidate candidate(const TreeNode& node, int position) const {
    return data_->store.template candidate<kShared>(node, position);
  }
  uint32_t AddEdge(uint32_t node, int position, uint32_t child) const {
    return data_->store.template AddEdge<kShared>(node, position, child);
  }
  template <typename Visitor>
  void ForEachEdge(const TreeNode& node, NodeShape shape,
                   Visitor&& visit) const {
    data_->store.template ForEachEdge<kShared>(node, shape, visit);
  }
  template <typename Visitor>
  void ForEachRun(const TreeNode& node, NodeShape shape,
                  Visitor&& visit) const {
    data_->store.template ForEachRun<kShared>(node, shape, visit);
  }

  // Returns the value of a node, in units: its mean, within its proved bounds.
  // REQUIRES: it was evaluated or is terminal.
  int ValueUnits(const TreeNode& node) const {
    const NodeShape shape = Load(node.shape);
    if (shape.status() == NodeStatus::kTerminal) {
      return data_->UtilityUnits(Load(node.bounds).low);
    }
    const int mean = LoadTotals(node).MeanUnits();
    if (!data_->options.proof) return mean;
    const MarginBounds bounds = Load(node.bounds);
    return std::clamp<int>(mean, data_->UtilityUnits(bounds.low),
                           data_->UtilityUnits(bounds.high));
  }

  // Makes a node the end of all lines through it.
  void MakeTerminal(TreeNode& node, int red_margin) const {
    const auto margin = static_cast<int8_t>(red_margin);
    // Read by others even where the rest has one owner.
    mcts::Store<true>(node.bounds, {.low = margin, .high = margin});
    const float utility =
        static_cast<float>(data_->UtilityUnits(red_margin)) * kValueUnit;
    Store(node.means, {.square = utility * utility,
                       .margin = static_cast<float>(red_margin)});
    SetStatus(node, NodeStatus::kTerminal, NodeShape::kSettled);
  }

  static void SetStatus(TreeNode& node, NodeStatus status, uint32_t flags = 0) {
    Update(node.shape, [&](NodeShape shape) {
      shape.word = (shape.word & ~NodeShape::kStatusMask) |
                   static_cast<uint32_t>(status) << NodeShape::kStatusShift |
                   flags;
      return shape;
    });
  }

 private:
  Data* data_;
};

using OwnTree = TreeView<false>;
using SharedTree = TreeView<true>;
using ConstOwnTree = TreeView<false, const SearchData>;

template <typename T>
concept AnyTree = std::same_as<T, OwnTree> || std::same_as<T, SharedTree> ||
                  std::same_as<T, ConstOwnTree>;

}  // namespace tara::mcts

#endif  // TARA_MCTS_TREE_SEARCH_DATA_H_
