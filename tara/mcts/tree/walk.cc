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

constexpr NodeStore::Room kMaxPerSimulation = NodeStore::kMaxPerSimulation;
constexpr int64_t kMaxBytesPerSimulation =
    sizeof(TreeNode) + sizeof(State) +
    kMaxPerSimulation.candidates * sizeof(Candidate) +
    kMaxPerSimulation.edges * sizeof(TreeEdge) + 4 * sizeof(uint64_t);
constexpr int64_t kMinMemoryLimit = 32 * kMaxBytesPerSimulation;

uint32_t LeafNode(AnyTree auto tree, const SearchLeaf& leaf) {
  return leaf.path.empty() ? tree->start : tree.edge(leaf.path.back()).child;
}

// --- What several threads need -----------------------------------------------

void UnlockNode(TreeNode& node) {
  Update<true>(node.shape, [](NodeShape shape) {
    shape.word &= ~NodeShape::kLocked;
    return shape;
  });
}

// Lets one thread at a time make an edge of a node. Returns whether this one
// may: nobody else is at it, and the node has `num_edges` still.
bool LockNode(TreeNode& node, int num_edges) {
  const NodeShape before = Update<true>(node.shape, [](NodeShape shape) {
    shape.word |= NodeShape::kLocked;
    return shape;
  });
  if (before.locked()) return false;
  if (before.num_edges() == num_edges) return true;
  UnlockNode(node);
  return false;
}

// Counts a walk as in flight on an edge, unless another thread has claimed it.
// Returns the counts before.
EdgeCounts Enter(TreeEdge& edge) {
  return Update<true>(edge.counts, [](EdgeCounts counts) {
    if (!counts.claimed()) ++counts.in_flight;
    return counts;
  });
}

// Takes a walk back from the edges that have counted it as in flight.
Gathered GiveUp(AnyTree auto tree, const SearchLeaf& leaf) {
  if constexpr (tree.kShared) CountInFlight(tree, leaf.path, -1);
  return Gathered::kInFlight;
}

// --- The ends of a walk ------------------------------------------------------

// At a node that needs no evaluation: what it is worth goes up.
Gathered EndAt(AnyTree auto tree, uint32_t index, const SearchLeaf& leaf) {
  TreeNode& node = tree.node(index);
  const NodeMeans means = tree.Load(node.means);
  if (tree.Load(node.shape).status() == NodeStatus::kTerminal) {
    tree.Add(node.totals, PackTotals(1, tree.ValueUnits(node)));
  }
  BackUp(tree, leaf.path, {.square = means.square, .margin = means.margin},
         /*landed=*/tree.kShared);
  return Gathered::kFinished;
}

// Asks the solver for a leaf. Returns whether it is terminal now.
bool Solve(AnyTree auto tree, uint32_t index) {
  const SearchOptions& options = tree->options;
  if (!options.proof || options.solver == nullptr || index == kRoot) {
    return false;
  }
  const State& state = tree.state(index);
  if (Count(state.vacant()) > options.solver_vacant_hills) return false;
  const std::optional<int> margin = options.solver->SolveRedMargin(state);
  if (!margin.has_value()) return false;
  tree.MakeTerminal(tree.node(index), *margin);
  tree.Add(tree->counts.solved, 1);
  return true;
}

// At a node that is not expanded: a leaf, unless its result is known or it is
// in flight.
Gathered Arrive(AnyTree auto tree, uint32_t index, SearchLeaf& leaf) {
  TreeNode& node = tree.node(index);
  if (tree.Load(node.shape).status() == NodeStatus::kTerminal) {
    return EndAt(tree, index, leaf);
  }
  const NodeShape before = tree.Update(node.shape, [](NodeShape shape) {
    if (shape.status() != NodeStatus::kNew) return shape;
    shape.word |= static_cast<uint32_t>(NodeStatus::kInFlight)
                  << NodeShape::kStatusShift;
    return shape;
  });
  if (before.status() != NodeStatus::kNew) return GiveUp(tree, leaf);
  if (Solve(tree, index)) return EndAt(tree, index, leaf);
  if constexpr (!tree.kShared) {  // threads have counted on the way
    CountInFlight(tree, leaf.path, 1);
    ++tree->in_flight;
  }
  leaf.state = tree.state(index);
  return Gathered::kLeaf;
}

// Whether a walk in a graph ends after its last edge, which leads to `child`
// and had `counts`: where it has come back to its own way, or where its edge
// has fewer visits than others have brought to the child.
bool EndsInGraph(AnyTree auto tree, uint32_t child, EdgeCounts counts,
                 const std::vector<uint32_t>& path) {
  const TreeNode& node = tree.node(child);
  if (tree.Load(node.shape).status() != NodeStatus::kExpanded) return false;
  for (size_t i = 0; i < path.size(); ++i) {
    if (NodeBefore(tree, path, i) != child) continue;
    tree.Add(tree->counts.cycles, 1);
    return true;
  }
  if (counts.visits + counts.in_flight >= tree.LoadTotals(node).visits) {
    return false;
  }
  tree.Add(tree->counts.catch_ups, 1);
  return true;
}

// Where the action selected at the root is settled, gives it its visit, for
// nothing. That it is the best so far is then seen in the visits; but they tell
// nothing new: with every second of them, `selected` becomes one of the others,
// to walk on. Returns how the walk has ended, if it has.
std::optional<Gathered> EndAtSettledAction(AnyTree auto tree,
                                           Selected& selected,
                                           SearchLeaf& leaf) {
  if (selected.edge == kNoIndex) return std::nullopt;
  TreeEdge& edge = tree.edge(selected.edge);
  if (!tree.Load(tree.node(edge.child).shape).settled()) return std::nullopt;
  if constexpr (tree.kShared) {
    if (Enter(edge).claimed()) return Gathered::kInFlight;
  }
  leaf.path.push_back(selected.edge);
  EndAt(tree, edge.child, leaf);
  leaf.path.clear();
  const TreeNode& root = tree.node(kRoot);
  if (tree.Load(edge.counts).visits % 2 == 1 ||
      tree.Load(root.shape).settled() ||
      static_cast<int>(tree.LoadTotals(root).visits) >
          tree->options.simulations) {
    return Gathered::kFinished;
  }
  selected = SelectAction(tree, kRoot, /*settled_too=*/true);
  return std::nullopt;
}

// --- New parts of the tree ---------------------------------------------------

// Makes the node of a position, unless there is one.
uint32_t FindOrAddNode(AnyTree auto tree, const State& state) {
  constexpr bool kShared = tree.kShared;
  Transpositions& transpositions = tree->transpositions;
  uint64_t hash = 0;
  if (tree->options.graph_search) {
    hash = HashState(state);
    const uint32_t found =
        transpositions.Find<kShared>(hash, state, tree->store);
    if (found != kNoIndex) {
      tree.Add(tree->counts.transpositions, 1);
      return found;
    }
  }
  const uint32_t index = tree.AddNode(state);
  if (state.finished()) {
    tree.MakeTerminal(tree.node(index), Score(state).margin());
  }
  if (!tree->options.graph_search) return index;
  return transpositions.Insert<kShared>(hash, index, tree->store);
}

// Makes the edge of an action not tried yet. Returns kNoIndex where another
// thread is making one.
uint32_t MakeEdge(AnyTree auto tree, uint32_t index, int position) {
  TreeNode& node = tree.node(index);
  if constexpr (tree.kShared) {
    if (!LockNode(node, position)) return kNoIndex;
  }
  State state = tree.state(index);
  ApplyAction(tree.candidate(node, position).action(), state);
  const uint32_t child = FindOrAddNode(tree, state);
  const uint32_t edge = tree.AddEdge(index, position, child);
  if constexpr (tree.kShared) UnlockNode(node);
  return edge;
}

// Lists the actions of a node that was evaluated.
void AddCandidates(AnyTree auto tree, uint32_t index,
                   absl::Span<const float> priors) {
  const float temperature = tree->options.prior_temperature;
  if (temperature == 1) {
    tree.AddCandidates(index, priors);
    return;
  }
  std::array<float, kNumActions> tempered;
  const auto room = absl::MakeSpan(tempered).first(priors.size());
  TemperPriors(priors, temperature, room);
  tree.AddCandidates(index, room);
}

}  // namespace

bool IsFull(AnyTree auto tree) {
  constexpr bool kShared = tree.kShared;
  const int64_t walks =
      1 + (kShared ? tree->shared_walks : int64_t{tree->in_flight});
  if constexpr (kShared) {
    const NodeStore::Room room = tree->store.room();
    if (room.nodes < walks * kMaxPerSimulation.nodes ||
        room.candidates < walks * kMaxPerSimulation.candidates ||
        room.edges < walks * kMaxPerSimulation.edges) {
      return true;
    }
  }
  int64_t bytes =
      tree->store.template bytes<kShared>() + walks * kMaxBytesPerSimulation;
  if (tree->options.graph_search) {
    bytes += tree->transpositions.BytesWith(
        tree->store.template num_nodes<kShared>() + walks);
  }
  return bytes > std::max(tree->options.max_bytes, kMinMemoryLimit) ||
         tree.LoadTotals(tree.node(tree->start)).visits + walks > kMaxVisits;
}

Gathered GatherLeaf(AnyTree auto tree, SearchLeaf& leaf) {
  leaf.path.clear();
  if (tree.Load(tree->was_full) || IsFull(tree)) {
    tree.Store(tree->was_full, true);
    return Gathered::kFull;
  }
  uint32_t index = tree->start;
  while (true) {
    // 1. The walk ends at a node that is not expanded, or whose value is known.
    const NodeShape shape = tree.Load(tree.node(index).shape);
    if (shape.status() != NodeStatus::kExpanded) {
      return Arrive(tree, index, leaf);
    }
    if (shape.settled() && index != kRoot) return EndAt(tree, index, leaf);
    // 2. Otherwise the best action is selected.
    Selected selected = index == kRoot
                            ? SelectRootAction(tree)
                            : SelectAction(tree, index, /*settled_too=*/true);
    if (index == kRoot && shape.bounds_below()) {
      const std::optional<Gathered> ended =
          EndAtSettledAction(tree, selected, leaf);
      if (ended.has_value()) return *ended;
    }
    // 3. One that was not tried yet gets an edge and a node.
    uint32_t edge = selected.edge;
    if (edge == kNoIndex) {
      if (selected.position < 0) return GiveUp(tree, leaf);
      edge = MakeEdge(tree, index, selected.position);
      if (edge == kNoIndex) return GiveUp(tree, leaf);
    }
    // 4. The walk goes on along the edge.
    EdgeCounts counts = tree.Load(tree.edge(edge).counts);
    if constexpr (tree.kShared) {
      counts = Enter(tree.edge(edge));
      if (counts.claimed()) return GiveUp(tree, leaf);  // since it was selected
    }
    leaf.path.push_back(edge);
    index = tree.edge(edge).child;
    // 5. In a graph it may end where others have been.
    if (tree->options.graph_search &&
        EndsInGraph(tree, index, counts, leaf.path)) {
      return EndAt(tree, index, leaf);
    }
  }
}

void ApplyLeaf(AnyTree auto tree, const SearchLeaf& leaf,
               const Evaluation& evaluation) {
  const uint32_t index = LeafNode(tree, leaf);
  TreeNode& node = tree.node(index);
  const NodeShape shape = tree.Load(node.shape);
  TARA_CHECK(shape.status() == NodeStatus::kInFlight,
             "the leaf is not in flight");
  AddCandidates(tree, index, evaluation.priors);
  const float utility = std::clamp(
      tree->utility.OfEvaluation(evaluation, shape.side()), -1.0f, 1.0f);
  const SimulationResult result = {
      .square = utility * utility,
      .margin = shape.side() == kRed ? evaluation.margin : -evaluation.margin};
  tree.Store(node.means, {.square = result.square, .margin = result.margin});
  tree.Store(node.totals, PackTotals(1, QuantizeValue(utility)));
  tree.SetStatus(node, NodeStatus::kExpanded);
  if constexpr (!tree.kShared) --tree->in_flight;
  BackUp(tree, leaf.path, result, /*landed=*/true);
}

void CancelLeaf(AnyTree auto tree, const SearchLeaf& leaf) {
  TreeNode& node = tree.node(LeafNode(tree, leaf));
  TARA_CHECK(tree.Load(node.shape).status() == NodeStatus::kInFlight,
             "the leaf is not in flight");
  tree.SetStatus(node, NodeStatus::kNew);
  CountInFlight(tree, leaf.path, -1);
  tree.Store(tree->was_cancelled, true);
  if constexpr (!tree.kShared) --tree->in_flight;
}

template bool IsFull(OwnTree);
template bool IsFull(SharedTree);
template Gathered GatherLeaf(OwnTree, SearchLeaf&);
template Gathered GatherLeaf(SharedTree, SearchLeaf&);
template void ApplyLeaf(OwnTree, const SearchLeaf&, const Evaluation&);
template void ApplyLeaf(SharedTree, const SearchLeaf&, const Evaluation&);
template void CancelLeaf(OwnTree, const SearchLeaf&);
template void CancelLeaf(SharedTree, const SearchLeaf&);

}  // namespace tara::mcts
