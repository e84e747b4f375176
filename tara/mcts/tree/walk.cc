#include "tara/mcts/tree/walk.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>

#include "absl/types/span.h"
#include "tara/base/check.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/rules.h"
#include "tara/mcts/state_hash.h"
#include "tara/mcts/tree/backup.h"
#include "tara/mcts/tree/selection.h"

namespace tara::mcts {

void TemperPriors(absl::Span<const float> priors, float temperature,
                  absl::Span<float> tempered) {
  TARA_CHECK(temperature > 0, "a temperature is positive");
  TARA_CHECK(priors.size() == tempered.size(), "a place for each prior");
  float sum = 0;
  for (size_t i = 0; i < priors.size(); ++i) {
    tempered[i] = std::pow(priors[i], 1 / temperature);
    sum += tempered[i];
  }
  TARA_CHECK(sum > 0, "some action has a chance");
  for (float& prior : tempered) prior /= sum;
}

namespace {

constexpr uint32_t kRoot = SearchData::kRoot;

constexpr NodeStore::Room kMostOfOne = NodeStore::kMostOfOne;
constexpr int64_t kMostBytesOfOne = sizeof(TreeNode) + sizeof(State) +
                                    kMostOfOne.candidates * sizeof(Candidate) +
                                    kMostOfOne.edges * sizeof(TreeEdge) +
                                    4 * sizeof(uint64_t);
constexpr int64_t kLeastMaxBytes = 32 * kMostBytesOfOne;

template <bool kShared>
SimulationResult ResultOf(const TreeNode& node) {
  const auto means = Load<kShared>(node.means);
  return {.square = means.square, .margin = means.margin};
}

uint32_t LeafNode(const SearchData& data, const SearchLeaf& leaf) {
  return leaf.path.empty() ? data.start
                           : data.store.edge(leaf.path.back()).child;
}

// Makes the node of a position, unless there is one.
template <bool kShared>
uint32_t FindOrAddNode(SearchData& data, const State& state) {
  uint64_t hash = 0;
  if (data.options.graph_search) {
    hash = HashState(state);
    const uint32_t found =
        data.transpositions.Find<kShared>(hash, state, data.store);
    if (found != kNoIndex) {
      Add<kShared>(data.counts.transpositions, 1);
      return found;
    }
  }
  const uint32_t index = data.store.AddNode<kShared>(state);
  if (state.finished()) {
    data.MakeTerminal<kShared>(data.store.node(index), Score(state).margin());
  }
  if (!data.options.graph_search) return index;
  return data.transpositions.Insert<kShared>(hash, index, data.store);
}

// Makes the edge of an action not tried yet. Returns kNoIndex where another
// thread is making one.
template <bool kShared>
uint32_t MakeEdge(SearchData& data, uint32_t index, int position) {
  TreeNode& node = data.store.node(index);
  if constexpr (kShared) {
    const NodeShape before = Update<true>(node.shape, [](NodeShape shape) {
      shape.word |= NodeShape::kLocked;
      return shape;
    });
    if (before.locked()) return kNoIndex;
    if (before.num_edges() != position) {  // another one was made meanwhile
      Update<true>(node.shape, [](NodeShape shape) {
        shape.word &= ~NodeShape::kLocked;
        return shape;
      });
      return kNoIndex;
    }
  }
  State state = data.store.state(index);
  ApplyAction(data.store.candidate<kShared>(node, position).action(), state);
  const uint32_t child = FindOrAddNode<kShared>(data, state);
  const uint32_t edge = data.store.AddEdge<kShared>(index, position, child);
  if constexpr (kShared) {
    Update<true>(node.shape, [](NodeShape shape) {
      shape.word &= ~NodeShape::kLocked;
      return shape;
    });
  }
  return edge;
}

// Lists the actions of a node that was evaluated.
template <bool kShared>
void AddCandidates(SearchData& data, uint32_t index,
                   absl::Span<const float> priors) {
  const float temperature = data.options.prior_temperature;
  if (temperature == 1) {
    data.store.AddCandidates<kShared>(index, priors);
    return;
  }
  std::array<float, kNumActions> tempered;
  const auto room = absl::MakeSpan(tempered).first(priors.size());
  TemperPriors(priors, temperature, room);
  data.store.AddCandidates<kShared>(index, room);
}

// Ends a walk at a node that needs no evaluation.
template <bool kShared>
Gathered EndAt(SearchData& data, uint32_t index, const SearchLeaf& leaf) {
  TreeNode& node = data.store.node(index);
  const SimulationResult result = ResultOf<kShared>(node);
  if (Load<kShared>(node.shape).status() == NodeStatus::kTerminal) {
    Add<kShared>(node.totals, PackTotals(1, data.ValueUnits<kShared>(node)));
  }
  BackUp<kShared>(data, leaf.path, result, /*landed=*/kShared);
  return Gathered::kFinished;
}

// Gives a walk up.
template <bool kShared>
Gathered GiveUp(SearchData& data, const SearchLeaf& leaf) {
  if constexpr (kShared) CountInFlight<true>(data, leaf.path, -1);
  return Gathered::kInFlight;
}

// Counts a walk as in flight on an edge of a shared tree, unless another thread
// has claimed it. Returns the counts before.
EdgeCounts Enter(TreeEdge& edge) {
  return Update<true>(edge.counts, [](EdgeCounts counts) {
    if (!counts.claimed()) ++counts.in_flight;
    return counts;
  });
}

// Where the action selected at the root is settled, gives it its visit, for
// nothing. That it is the best so far is then seen in the visits; but they tell
// nothing new: with every second of them, `selected` becomes one of the others,
// to walk on. Returns how the walk has ended, if it has.
template <bool kShared>
std::optional<Gathered> EndAtSettledAction(SearchData& data, Selected& selected,
                                           SearchLeaf& leaf) {
  if (selected.edge == kNoIndex) return std::nullopt;
  TreeEdge& edge = data.store.edge(selected.edge);
  if (!Load<kShared>(data.store.node(edge.child).shape).settled()) {
    return std::nullopt;
  }
  if constexpr (kShared) {
    if (Enter(edge).claimed()) return Gathered::kInFlight;
  }
  leaf.path.push_back(selected.edge);
  EndAt<kShared>(data, edge.child, leaf);
  leaf.path.clear();
  const TreeNode& root = data.store.node(kRoot);
  if (Load<kShared>(edge.counts).visits % 2 == 1 ||
      Load<kShared>(root.shape).settled() ||
      static_cast<int>(UnpackTotals(Load<kShared>(root.totals)).visits) >
          data.options.simulations) {
    return Gathered::kFinished;
  }
  selected = SelectAction<kShared>(data, kRoot, /*settled_too=*/true);
  return std::nullopt;
}

// Asks the solver for a leaf. Returns whether it is terminal now.
template <bool kShared>
bool Solve(SearchData& data, uint32_t index) {
  const SearchOptions& options = data.options;
  if (!options.proof || options.solver == nullptr || index == kRoot) {
    return false;
  }
  const State& state = data.store.state(index);
  if (Count(state.vacant()) > options.solver_vacant_hills) return false;
  const std::optional<int> margin = options.solver->SolveRedMargin(state);
  if (!margin.has_value()) return false;
  data.MakeTerminal<kShared>(data.store.node(index), *margin);
  Add<kShared>(data.counts.solved, 1);
  return true;
}

// Ends a walk at a node that is not expanded.
template <bool kShared>
Gathered Arrive(SearchData& data, uint32_t index, SearchLeaf& leaf) {
  TreeNode& node = data.store.node(index);
  if (Load<kShared>(node.shape).status() == NodeStatus::kTerminal) {
    return EndAt<kShared>(data, index, leaf);
  }
  const NodeShape before = Update<kShared>(node.shape, [](NodeShape shape) {
    if (shape.status() != NodeStatus::kNew) return shape;
    shape.word |= static_cast<uint32_t>(NodeStatus::kInFlight)
                  << NodeShape::kStatusShift;
    return shape;
  });
  if (before.status() != NodeStatus::kNew) return GiveUp<kShared>(data, leaf);
  if (Solve<kShared>(data, index)) return EndAt<kShared>(data, index, leaf);
  if constexpr (!kShared) CountInFlight<false>(data, leaf.path, 1);
  if constexpr (!kShared) ++data.in_flight;
  leaf.state = data.store.state(index);
  return Gathered::kLeaf;
}

// Whether a walk in a graph ends after its last edge, which leads to `child`
// and had `counts`: where it has come back to its own way, or where its edge
// has fewer visits than others have brought to the child.
template <bool kShared>
bool EndsInGraph(SearchData& data, uint32_t child, EdgeCounts counts,
                 const std::vector<uint32_t>& path) {
  const TreeNode& node = data.store.node(child);
  if (Load<kShared>(node.shape).status() != NodeStatus::kExpanded) return false;
  for (size_t i = 0; i < path.size(); ++i) {
    if (NodeBefore(data, path, i) != child) continue;
    Add<kShared>(data.counts.cycles, 1);
    return true;
  }
  const NodeTotals totals = UnpackTotals(Load<kShared>(node.totals));
  if (counts.visits + counts.in_flight >= totals.visits) return false;
  Add<kShared>(data.counts.catch_ups, 1);
  return true;
}

}  // namespace

template <bool kShared>
bool IsFull(const SearchData& data) {
  const int64_t walks =
      1 + (kShared ? data.shared_walks : int64_t{data.in_flight});
  if constexpr (kShared) {
    const NodeStore::Room room = data.store.room();
    if (room.nodes < walks * kMostOfOne.nodes ||
        room.candidates < walks * kMostOfOne.candidates ||
        room.edges < walks * kMostOfOne.edges) {
      return true;
    }
  }
  int64_t bytes = data.store.bytes<kShared>() + walks * kMostBytesOfOne;
  if (data.options.graph_search) {
    bytes +=
        data.transpositions.BytesWith(data.store.num_nodes<kShared>() + walks);
  }
  const NodeTotals totals =
      UnpackTotals(Load<kShared>(data.store.node(data.start).totals));
  return bytes > std::max(data.options.max_bytes, kLeastMaxBytes) ||
         totals.visits + walks > kMaxVisits;
}

template <bool kShared>
Gathered GatherLeaf(SearchData& data, SearchLeaf& leaf) {
  leaf.path.clear();
  if (Load<kShared>(data.was_full) || IsFull<kShared>(data)) {
    Store<kShared>(data.was_full, true);
    return Gathered::kFull;
  }
  uint32_t index = data.start;
  while (true) {
    const NodeShape shape = Load<kShared>(data.store.node(index).shape);
    if (shape.status() != NodeStatus::kExpanded) {
      return Arrive<kShared>(data, index, leaf);
    }
    if (shape.settled() && index != kRoot) {
      return EndAt<kShared>(data, index, leaf);
    }
    Selected selected = index == kRoot ? SelectRootAction<kShared>(data)
                                       : SelectAction<kShared>(
                                             data, index, /*settled_too=*/true);
    if (index == kRoot && shape.bounds_below()) {
      const std::optional<Gathered> ended =
          EndAtSettledAction<kShared>(data, selected, leaf);
      if (ended.has_value()) return *ended;
    }
    uint32_t edge = selected.edge;
    if (edge == kNoIndex) {
      if (selected.position < 0) return GiveUp<kShared>(data, leaf);
      edge = MakeEdge<kShared>(data, index, selected.position);
      if (edge == kNoIndex) return GiveUp<kShared>(data, leaf);
    }
    leaf.path.push_back(edge);
    EdgeCounts counts = Load<kShared>(data.store.edge(edge).counts);
    if constexpr (kShared) {
      counts = Enter(data.store.edge(edge));
      if (counts.claimed()) {  // since it was selected
        leaf.path.pop_back();
        return GiveUp<true>(data, leaf);
      }
    }
    index = data.store.edge(edge).child;
    if (data.options.graph_search &&
        EndsInGraph<kShared>(data, index, counts, leaf.path)) {
      return EndAt<kShared>(data, index, leaf);
    }
  }
}

template <bool kShared>
void ApplyLeaf(SearchData& data, const SearchLeaf& leaf,
               const Evaluation& evaluation) {
  const uint32_t index = LeafNode(data, leaf);
  TreeNode& node = data.store.node(index);
  const NodeShape shape = Load<kShared>(node.shape);
  TARA_CHECK(shape.status() == NodeStatus::kInFlight,
             "the leaf is not in flight");
  AddCandidates<kShared>(data, index, evaluation.priors);
  const float utility = std::clamp(
      data.utility.OfEvaluation(evaluation, shape.side()), -1.0f, 1.0f);
  const SimulationResult result = {
      .square = utility * utility,
      .margin = shape.side() == kRed ? evaluation.margin : -evaluation.margin};
  Store<kShared>(node.means,
                 {.square = result.square, .margin = result.margin});
  Store<kShared>(node.totals, PackTotals(1, QuantizeValue(utility)));
  SearchData::SetStatus<kShared>(node, NodeStatus::kExpanded);
  if constexpr (!kShared) --data.in_flight;
  BackUp<kShared>(data, leaf.path, result, /*landed=*/true);
}

template <bool kShared>
void CancelLeaf(SearchData& data, const SearchLeaf& leaf) {
  TreeNode& node = data.store.node(LeafNode(data, leaf));
  TARA_CHECK(Load<kShared>(node.shape).status() == NodeStatus::kInFlight,
             "the leaf is not in flight");
  SearchData::SetStatus<kShared>(node, NodeStatus::kNew);
  CountInFlight<kShared>(data, leaf.path, -1);
  Store<kShared>(data.was_cancelled, true);
  if constexpr (!kShared) --data.in_flight;
}

template bool IsFull<false>(const SearchData&);
template bool IsFull<true>(const SearchData&);
template Gathered GatherLeaf<false>(SearchData&, SearchLeaf&);
template Gathered GatherLeaf<true>(SearchData&, SearchLeaf&);
template void ApplyLeaf<false>(SearchData&, const SearchLeaf&,
                               const Evaluation&);
template void ApplyLeaf<true>(SearchData&, const SearchLeaf&,
                              const Evaluation&);
template void CancelLeaf<false>(SearchData&, const SearchLeaf&);
template void CancelLeaf<true>(SearchData&, const SearchLeaf&);

}  // namespace tara::mcts
