#include "tara/mcts/tree/walk.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "tara/base/check.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/rules.h"
#include "tara/mcts/choice/choose_action.h"
#include "tara/mcts/state_hash.h"
#include "tara/mcts/tree/node_store.h"

namespace tara::mcts {

namespace {

constexpr uint32_t kRoot = SearchData::kRoot;

// --- Which edge: selection ---------------------------------------------------

// The terms of a node in the scores of its edges.
struct ScanTerms {
  float side_unit;  // a unit of value for the side to move
  Puct puct;
  float first_play;  // value of edges without visits
};

// Prior probabilities are summed in units of 2^-24: exact in any order.
constexpr float kPriorUnit = 0x1.0p-24f;

// The best edge so far, and the sum of the priors seen.
struct ScanResult {
  float score = -std::numeric_limits<float>::infinity();
  uint32_t slot = kNoIndex;
  int32_t prior_sum = 0;
};

// Scores of eight edges at a time (Puct::Score, with the visits in flight), in
// the arithmetic of vectors that the compiler maps to what the machine has.
// Takes the first of the best.
class EdgeScan {
 public:
  static constexpr int kWidth = 8;

  explicit EdgeScan(const ScanTerms& terms) : terms_(terms) {}

  // Adds the edges in the first `count` of eight slots from `edges` on, which
  // are slots `first` on of the pool. REQUIRES: all eight may be read.
  void Add(const TreeEdge* edges, uint32_t first, int count) {
    const auto* const pairs = reinterpret_cast<const PairsOfEdges*>(edges);
    // A transposition within the halves of the vectors: the lanes hold edges
    // 0, 2, 4, 6, 1, 3, 5, 7.
    const Ints low01 = Low(pairs[0], pairs[1]);
    const Ints low23 = Low(pairs[2], pairs[3]);
    const Ints visits = LowPairs(low01, low23);
    const Ints value_and_flight = HighPairs(low01, low23);
    const Ints prior_and_action =
        HighPairs(High(pairs[0], pairs[1]), High(pairs[2], pairs[3]));

    const Ints number = {0, 2, 4, 6, 1, 3, 5, 7};
    const Ints used = number < count;
    const Ints prior_bits = ((prior_and_action & 0xffff) << 12) +
                            static_cast<int32_t>(kPriorExponentOffset);
    Floats prior;
    std::memcpy(&prior, &prior_bits, sizeof(prior));
    Floats value = Convert(value_and_flight << 16 >> 16) * terms_.side_unit;
    value = visits == 0 ? Floats{} + terms_.first_play : value;
    const Ints all_visits = visits + (value_and_flight >> 16 & 0xffff) + 1;
    const Floats score = terms_.puct.Score(value, prior, Convert(all_visits));
    const Ints better = (score > best_) & used;
    best_ = better ? score : best_;
    slots_ = better ? number + static_cast<int32_t>(first) : slots_;
    const Ints units = __builtin_convertvector(prior * (1 / kPriorUnit), Ints);
    priors_ += used & (visits > 0) & units;
  }

  // Returns the best of what was added, and of `before`, which came earlier.
  ScanResult Finish(ScanResult before) const {
    for (int i = 0; i < kWidth; ++i) before.prior_sum += priors_[i];
    float best = before.score;
    for (int i = 0; i < kWidth; ++i) best = best_[i] > best ? best_[i] : best;
    if (best == before.score) return before;
    before.score = best;
    before.slot = kNoIndex;
    for (int i = 0; i < kWidth; ++i) {
      const auto slot = static_cast<uint32_t>(slots_[i]);
      if (best_[i] == best && slot < before.slot) before.slot = slot;
    }
    return before;
  }

 private:
  using Ints = int32_t __attribute__((vector_size(32)));
  using Floats = float __attribute__((vector_size(32)));
  // Two edges side by side, in memory that holds edges.
  using PairsOfEdges =
      int32_t __attribute__((vector_size(32), aligned(8), may_alias));

  static Floats Convert(Ints numbers) {
    return __builtin_convertvector(numbers, Floats);
  }
  static Ints Low(Ints a, Ints b) {
    return __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13);
  }
  static Ints High(Ints a, Ints b) {
    return __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15);
  }
  static Ints LowPairs(Ints a, Ints b) {
    return __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
  }
  static Ints HighPairs(Ints a, Ints b) {
    return __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
  }

  const ScanTerms terms_;
  Floats best_ = Floats{} - std::numeric_limits<float>::infinity();
  Ints slots_ = {};
  Ints priors_ = {};
};

// The terms of a node in the scores of its actions.
struct Terms {
  ScanTerms scan;
  float mean;  // of the node, for the side to move
};

// Sums over the edges of a node, where leaves are in flight.
struct EdgeSums {
  int32_t visited_prior = 0;  // in units of kPriorUnit
  uint32_t in_flight = 0;
};

int32_t PriorUnits(uint16_t prior) {
  return static_cast<int32_t>(DecodePrior(prior) * (1 / kPriorUnit));
}

EdgeSums SumEdges(const SearchData& data, const TreeNode& node) {
  EdgeSums sums;
  data.store.ForEachEdge(node, [&](uint32_t, const TreeEdge& edge) {
    sums.in_flight += edge.counts.in_flight;
    if (edge.counts.visits > 0) sums.visited_prior += PriorUnits(edge.prior);
  });
  return sums;
}

[[gnu::always_inline]] inline Terms TermsOf(const SearchData& data,
                                            const TreeNode& node,
                                            uint32_t in_flight) {
  const NodeTotals totals = UnpackTotals(node.totals);
  const auto visits = static_cast<float>(totals.visits + in_flight);
  const float red_mean = totals.Mean();
  const bool is_red = node.side == kRed;
  return {
      .scan = {.side_unit = is_red ? kValueUnit : -kValueUnit,
               .puct = {.exploration = data.options.c_puct * std::sqrt(visits)},
               .first_play = 0},
      .mean = is_red ? red_mean : -red_mean};
}

// `visited_prior` is in units of kPriorUnit.
float FirstPlayUrgencyValue(const SearchOptions& options, float mean,
                            int32_t visited_prior) {
  const float visited = static_cast<float>(visited_prior) * kPriorUnit;
  return mean - options.first_play_urgency_reduction *
                    std::sqrt(std::min(visited, 1.0f));
}

// Whether an action to a child cannot be better than the margin that is proved
// for the side to move at the node, while another action is as good as that.
bool IsDominated(bool is_red, MarginBounds child, MarginBounds node) {
  return is_red ? child.high < node.low ||
                      (child.high == node.low && child.low < node.low)
                : child.low > node.high ||
                      (child.low == node.high && child.high > node.high);
}

// Whether proved bounds exclude an action. A search of a settled child changes
// nothing, and its utility bounds its parent's; but at the root its visits show
// that it is good (`settled_too` false).
bool IsLeftOut(const TreeNode& child, bool settled_too, bool is_red,
               MarginBounds node) {
  return (settled_too && child.settled) ||
         IsDominated(is_red, child.bounds, node);
}

// Returns the mean with leaves in flight counted as partly lost.
float WithVirtualLoss(float value, EdgeCounts counts, float virtual_loss) {
  const auto visits = static_cast<float>(counts.visits);
  const float lost = virtual_loss * static_cast<float>(counts.in_flight);
  return (value * visits - lost) / (visits + lost);
}

// Adds one edge to a scan, with a given value.
void AddEdge(const ScanTerms& terms, uint32_t slot, const TreeEdge& edge,
             float value, ScanResult& result) {
  const EdgeCounts counts = edge.counts;
  if (counts.visits > 0) result.prior_sum += PriorUnits(edge.prior);
  const auto tries = static_cast<int32_t>(1 + counts.visits + counts.in_flight);
  const float score = terms.puct.Score(value, DecodePrior(edge.prior),
                                       static_cast<float>(tries));
  if (score > result.score) {
    result.score = score;
    result.slot = slot;
  }
}

float ValueForSide(const ScanTerms& terms, EdgeCounts counts) {
  return counts.visits == 0
             ? terms.first_play
             : terms.side_unit * static_cast<float>(counts.value);
}

// Finds the best edge of a node by value, prior and visits only.
ScanResult ScanEdges(const SearchData& data, const TreeNode& node,
                     const ScanTerms& terms) {
  // The first edges, side by side in a chunk of their own, one by one.
  ScanResult result;
  const int in_first = std::min<int>(node.num_edges, NodeStore::kInFirstChunk);
  for (int i = 0; i < in_first; ++i) {
    const uint32_t slot = node.edges + static_cast<uint32_t>(i);
    const TreeEdge& edge = data.store.edge(slot);
    AddEdge(terms, slot, edge, ValueForSide(terms, edge.counts), result);
  }
  if (node.num_edges <= in_first) return result;
  EdgeScan scan(terms);
  data.store.ForEachRun(node, [&](uint32_t first, int count) {
    if (first == node.edges) return;
    const TreeEdge* const edges = &data.store.edge(first);
    for (int i = 0; i < count; i += EdgeScan::kWidth) {
      scan.Add(edges + i, first + static_cast<uint32_t>(i),
               std::min(count - i, EdgeScan::kWidth));
    }
  });
  return scan.Finish(result);
}

// The same with virtual losses, and without actions that are left out.
ScanResult ScanWithBoundsAndVirtualLoss(const SearchData& data,
                                        const TreeNode& node, bool settled_too,
                                        const ScanTerms& terms) {
  ScanResult result;
  const bool is_red = node.side == kRed;
  const float virtual_loss = data.options.virtual_loss;
  data.store.ForEachEdge(node, [&](uint32_t slot, const TreeEdge& edge) {
    if (node.bounds_below && IsLeftOut(data.store.node(edge.child), settled_too,
                                       is_red, node.bounds)) {
      return;
    }
    float value = ValueForSide(terms, edge.counts);
    if (edge.counts.in_flight > 0 && virtual_loss > 0) {
      value = WithVirtualLoss(value, edge.counts, virtual_loss);
    }
    AddEdge(terms, slot, edge, value, result);
  });
  return result;
}

// Returns an edge of the root that lacks playouts it must have, or kNoIndex.
uint32_t ForcedEdge(const SearchData& data) {
  const TreeNode& root = data.store.node(kRoot);
  const auto visits =
      static_cast<float>(UnpackTotals(root.totals).visits - 1 + data.in_flight);
  uint32_t forced = kNoIndex;
  data.store.ForEachEdge(root, [&](uint32_t slot, const TreeEdge& edge) {
    const auto has =
        static_cast<float>(edge.counts.visits + edge.counts.in_flight);
    if (forced == kNoIndex && has * has < data.options.forced_playouts *
                                              DecodePrior(edge.prior) *
                                              visits) {
      forced = slot;
    }
  });
  return forced;
}

// The way on from a node: one of its edges, or an action not tried yet.
struct Selected {
  uint32_t edge = kNoIndex;
  int position = 0;  // edge is kNoIndex: of the action among the candidates
};

Selected SelectByGumbel(SearchData& data) {
  const TreeNode& root = data.store.node(kRoot);
  const float own = data.RootOwnValue();
  GetGumbelStats(data, data.gumbel_stats);
  const int chosen =
      data.gumbel->Next(data.gumbel_stats, root.side == kRed ? own : -own);
  Selected selected;
  data.store.ForEachEdge(root, [&](uint32_t slot, const TreeEdge& edge) {
    if (data.root_places[edge.action_index] == chosen) selected.edge = slot;
  });
  if (selected.edge != kNoIndex) return selected;
  selected.position = root.num_edges;
  while (data.root_places[Index(
             data.store.candidate(root, selected.position).action())] !=
         chosen) {
    ++selected.position;
  }
  return selected;
}

// Picks the way on from an expanded node: the one with the largest score
// (Puct), where Q is the value for the side to move and n the visits of the
// action, those in flight included; N is the visits of the node, its own
// evaluation and those in flight included; c is that of the options. Of equals,
// the first: edges before actions not tried.
//
// Actions without a value have one by first-play urgency instead of Q. It is
// the same for all of a node, so that of those not tried at all only the one
// with the highest prior can be picked. Source: Gelly and Wang 2006,
// "Exploration exploitation in Go"; its reduction with the prior probability of
// the actions tried, Wu 2019 (arXiv:1902.10565), appendix A.
//
// With proof, actions are left out that another one of the node is proved to be
// as good as, and, with `settled_too`, those whose utility is settled: as long
// as others are left.
Selected SelectAction(const SearchData& data, uint32_t index,
                      bool settled_too) {
  const TreeNode& node = data.store.node(index);
  // 1. The terms that all scores of the node share. With leaves in flight there
  //    may be edges without visits, whose first-play urgency is used in step
  //    2; otherwise only an action not tried has one, and step 2 sums the
  //    priors that it depends on.
  const bool in_flight = data.in_flight > 0 || data.was_cancelled;
  EdgeSums sums;
  if (in_flight) sums = SumEdges(data, node);
  Terms terms = TermsOf(data, node, sums.in_flight);
  if (in_flight) {
    terms.scan.first_play =
        FirstPlayUrgencyValue(data.options, terms.mean, sums.visited_prior);
  }
  // 2. The edge with the best score.
  const bool one_by_one =
      node.bounds_below || (in_flight && data.options.virtual_loss > 0);
  const ScanResult best = one_by_one ? ScanWithBoundsAndVirtualLoss(
                                           data, node, settled_too, terms.scan)
                                     : ScanEdges(data, node, terms.scan);
  // 3. The next action not tried, which has the highest prior of them.
  const int next = node.num_edges;
  if (next < node.num_candidates) {
    if (!in_flight) {
      // A scan one by one leaves edges out of its sum.
      if (one_by_one) sums = SumEdges(data, node);
      terms.scan.first_play = FirstPlayUrgencyValue(
          data.options, terms.mean,
          one_by_one ? sums.visited_prior : best.prior_sum);
    }
    const float prior = DecodePrior(node.next_prior);
    if (terms.scan.puct.Score(terms.scan.first_play, prior, 1.0f) >
        best.score) {
      return {.position = next};
    }
  } else if (best.slot == kNoIndex) {
    // All are excluded if the node is settled but not yet marked as settled.
    return {.edge = node.edges};
  }
  return {.edge = best.slot};
}

// The same at the root, with options.forced_playouts or options.gumbel.
Selected SelectRootAction(SearchData& data) {
  if (data.gumbel.has_value()) return SelectByGumbel(data);
  if (data.options.forced_playouts > 0) {
    const uint32_t forced = ForcedEdge(data);
    if (forced != kNoIndex) return {.edge = forced};
  }
  return SelectAction(data, kRoot, /*settled_too=*/false);
}

}  // namespace

Puct PuctOf(const SearchData& data, uint32_t index) {
  const TreeNode& node = data.store.node(index);
  return TermsOf(data, node, SumEdges(data, node).in_flight).scan.puct;
}

void GetGumbelStats(const SearchData& data,
                    std::vector<GumbelRoot::ActionStats>& stats) {
  const TreeNode& root = data.store.node(kRoot);
  const float side_unit = root.side == kRed ? kValueUnit : -kValueUnit;
  stats.assign(data.root_priors.size(), {});
  data.store.ForEachEdge(root, [&](uint32_t, const TreeEdge& edge) {
    const size_t place = data.root_places[edge.action_index];
    const EdgeCounts counts = edge.counts;
    stats[place] = {
        .visits = static_cast<int>(counts.visits + counts.in_flight -
                                   data.gumbel_base_visits[place]),
        .value = side_unit * static_cast<float>(counts.value),
        .in_flight = counts.in_flight};
  });
}

namespace {

// The most that one simulation can take: a node, candidates for all actions, a
// chunk of edges, places among the transpositions.
constexpr int64_t kMaxBytesPerSimulation =
    sizeof(TreeNode) + sizeof(State) + kNumActions * sizeof(Candidate) +
    32 * sizeof(TreeEdge) + 4 * sizeof(uint64_t);
constexpr int64_t kMinMemoryLimit = 32 * kMaxBytesPerSimulation;

TreeNode& LeafNode(SearchData& data, const SearchLeaf& leaf) {
  TreeNode& node =
      data.store.node(data.NodeBefore(leaf.path, leaf.path.size()));
  TARA_CHECK(node.status == NodeStatus::kInFlight, "the leaf is not in flight");
  return node;
}

// --- The ends of a walk ------------------------------------------------------

// At a node that needs no evaluation: its value goes up.
Gathered EndAt(SearchData& data, uint32_t index, const SearchLeaf& leaf) {
  TreeNode& node = data.store.node(index);
  const NodeMeans means = node.means;
  if (node.status == NodeStatus::kTerminal) {
    node.totals += PackTotals(1, data.ValueUnits(node));
  }
  data.BackUp(leaf.path, {.square = means.square, .margin = means.margin},
              /*landed=*/false);
  return Gathered::kFinished;
}

// Solves a leaf, where the solver can. Returns whether it is terminal now.
bool Solve(SearchData& data, uint32_t index) {
  const SearchOptions& options = data.options;
  if (!options.proof || options.solver == nullptr || index == kRoot) {
    return false;
  }
  const State& state = data.store.state(index);
  if (Count(state.vacant()) > options.solver_vacant_hills) return false;
  const std::optional<int> margin = options.solver->SolveRedMargin(state);
  if (!margin.has_value()) return false;
  data.MakeTerminal(data.store.node(index), *margin);
  ++data.counts.solved;
  return true;
}

// At a node that is not expanded: a leaf, unless its result is known or it is
// in flight.
Gathered Arrive(SearchData& data, uint32_t index, SearchLeaf& leaf) {
  TreeNode& node = data.store.node(index);
  if (node.status == NodeStatus::kTerminal) {
    return EndAt(data, index, leaf);
  }
  if (node.status != NodeStatus::kNew) return Gathered::kInFlight;
  if (Solve(data, index)) return EndAt(data, index, leaf);
  node.status = NodeStatus::kInFlight;
  data.CountInFlight(leaf.path, 1);
  leaf.state = data.store.state(index);
  return Gathered::kLeaf;
}

// Whether a walk in a graph ends after the last edge of a path, which leads to
// `child`: where it has come back to its own way, or where its edge has fewer
// visits than others have brought to the child.
bool EndsInGraph(SearchData& data, uint32_t child,
                 const std::vector<uint32_t>& path) {
  const TreeNode& node = data.store.node(child);
  if (node.status != NodeStatus::kExpanded) return false;
  for (size_t i = 0; i < path.size(); ++i) {
    if (data.NodeBefore(path, i) != child) continue;
    ++data.counts.cycles;
    return true;
  }
  const EdgeCounts counts = data.store.edge(path.back()).counts;
  if (counts.visits + counts.in_flight >= UnpackTotals(node.totals).visits) {
    return false;
  }
  ++data.counts.catch_ups;
  return true;
}

// If the action selected at the root is settled, gives it a visit without a
// search, so that the visits show it as the best so far. Such visits do not
// change its value: with every second one, `selected` becomes another action,
// from which the walk continues. Returns whether the walk has ended.
bool EndsAtSettledAction(SearchData& data, Selected& selected,
                         SearchLeaf& leaf) {
  if (selected.edge == kNoIndex) return false;
  const TreeEdge& edge = data.store.edge(selected.edge);
  if (!data.store.node(edge.child).settled) return false;
  leaf.path.push_back(selected.edge);
  EndAt(data, edge.child, leaf);
  leaf.path.clear();
  const TreeNode& root = data.store.node(kRoot);
  if (edge.counts.visits % 2 == 1 || root.settled ||
      static_cast<int>(UnpackTotals(root.totals).visits) >
          data.options.simulations) {
    return true;
  }
  selected = SelectAction(data, kRoot, /*settled_too=*/true);
  return false;
}

// --- New parts of the tree ---------------------------------------------------

// Makes the node of a position, unless there is one.
uint32_t FindOrAddNode(SearchData& data, const State& state) {
  uint64_t hash = 0;
  if (data.options.graph_search) {
    hash = HashState(state);
    const uint32_t found = data.transpositions.Find(hash, state, data.store);
    if (found != kNoIndex) {
      ++data.counts.transpositions;
      return found;
    }
  }
  const uint32_t index = data.store.AddNode(state);
  if (state.finished()) {
    data.MakeTerminal(data.store.node(index), Score(state).margin());
  }
  if (data.options.graph_search) {
    data.transpositions.Insert(hash, index, data.store);
  }
  return index;
}

// Makes the edge of an action not tried yet.
uint32_t MakeEdge(SearchData& data, uint32_t index, int position) {
  State state = data.store.state(index);
  const TreeNode& node = data.store.node(index);
  ApplyAction(data.store.candidate(node, position).action(), state);
  return data.store.AddEdge(index, position, FindOrAddNode(data, state));
}

// Whether another simulation might not find room.
bool IsFull(const SearchData& data) {
  const int64_t walks = 1 + int64_t{data.in_flight};
  int64_t bytes = data.store.bytes() + walks * kMaxBytesPerSimulation;
  if (data.options.graph_search) {
    bytes += data.transpositions.BytesWith(data.store.num_nodes() + walks);
  }
  const TreeNode& root = data.store.node(kRoot);
  return bytes > std::max(data.options.max_bytes, kMinMemoryLimit) ||
         UnpackTotals(root.totals).visits + walks > kMaxVisits;
}

}  // namespace

Gathered GatherLeaf(SearchData& data, SearchLeaf& leaf) {
  leaf.path.clear();
  if (data.was_full || IsFull(data)) {
    data.was_full = true;
    return Gathered::kFull;
  }
  uint32_t index = kRoot;
  while (true) {
    // 1. The walk ends at a node that is not expanded, or whose value is known.
    const TreeNode& node = data.store.node(index);
    if (node.status != NodeStatus::kExpanded) return Arrive(data, index, leaf);
    if (node.settled && index != kRoot) return EndAt(data, index, leaf);
    // 2. Otherwise the best action is selected.
    Selected selected = index == kRoot
                            ? SelectRootAction(data)
                            : SelectAction(data, index, /*settled_too=*/true);
    if (index == kRoot && node.bounds_below &&
        EndsAtSettledAction(data, selected, leaf)) {
      return Gathered::kFinished;
    }
    // 3. One that was not tried yet gets an edge and a node.
    const uint32_t edge = selected.edge == kNoIndex
                              ? MakeEdge(data, index, selected.position)
                              : selected.edge;
    // 4. The walk continues along the edge.
    leaf.path.push_back(edge);
    index = data.store.edge(edge).child;
    // 5. In a graph it may end where others have been.
    if (data.options.graph_search && EndsInGraph(data, index, leaf.path)) {
      return EndAt(data, index, leaf);
    }
  }
}

void ApplyLeaf(SearchData& data, const SearchLeaf& leaf,
               const Evaluation& evaluation) {
  // 6. The leaf is expanded.
  TreeNode& node = LeafNode(data, leaf);
  data.store.AddCandidates(data.NodeBefore(leaf.path, leaf.path.size()),
                           evaluation.priors);
  const Side side = node.side;
  const float utility =
      std::clamp(data.utility.OfEvaluation(evaluation, side), -1.0f, 1.0f);
  const SimulationResult result = {
      .square = utility * utility,
      .margin = side == kRed ? evaluation.margin : -evaluation.margin};
  node.means = {.square = result.square, .margin = result.margin};
  node.totals = PackTotals(1, QuantizeValue(utility));
  node.status = NodeStatus::kExpanded;
  --data.in_flight;
  // 7. Its value goes up the path.
  data.BackUp(leaf.path, result, /*landed=*/true);
}

void CancelLeaf(SearchData& data, const SearchLeaf& leaf) {
  LeafNode(data, leaf).status = NodeStatus::kNew;
  data.CountInFlight(leaf.path, -1);
  data.was_cancelled = true;
}

}  // namespace tara::mcts
