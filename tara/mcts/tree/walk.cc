#include "tara/mcts/tree/walk.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "tara/base/check.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/rules.h"
#include "tara/mcts/choice/puct.h"
#include "tara/mcts/state_hash.h"
#include "tara/mcts/tree/backup.h"

namespace tara::mcts {

void TemperPriors(absl::Span<const float> priors, float temperature,
                  absl::Span<float> tempered) {
  TARA_CHECK(temperature > 0, "temperature must be > 0");
  TARA_CHECK(priors.size() == tempered.size(), "expected spans of one size");
  float sum = 0;
  for (size_t i = 0; i < priors.size(); ++i) {
    tempered[i] = std::pow(priors[i], 1 / temperature);
    sum += tempered[i];
  }
  TARA_CHECK(sum > 0, "a prior must be > 0");
  for (float& prior : tempered) prior /= sum;
}

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
  bool any_claimed = false;
};

int32_t PriorUnits(uint16_t prior) {
  return static_cast<int32_t>(DecodePrior(prior) * (1 / kPriorUnit));
}

EdgeSums SumEdges(AnyTree auto tree, const TreeNode& node, NodeShape shape) {
  EdgeSums sums;
  tree.ForEachEdge(node, shape, [&](uint32_t, const TreeEdge& edge) {
    const auto counts = tree.Load(edge.counts);
    if (tree.kShared && counts.claimed()) {
      sums.any_claimed = true;
    } else {
      sums.in_flight += counts.in_flight;
    }
    if (counts.visits > 0) sums.visited_prior += PriorUnits(edge.prior);
  });
  return sums;
}

// Returns the factor of exploration by how much results differ below a node.
float DeviationFactor(const SearchOptions& options, float mean, float square,
                      float visits) {
  const float variance = std::max(0.0f, square - mean * mean);
  const float prior = options.utility_deviation_prior;
  const float weight = options.utility_deviation_prior_weight;
  const float deviation = std::sqrt(
      (weight * prior * prior + visits * variance) / (weight + visits));
  return 1 + options.utility_deviation_scale * (deviation / prior - 1);
}

// Returns c(N) where the options make it depend on the node.
[[gnu::noinline]] float VaryingC(const SearchOptions& options, float visits,
                                 float mean, float square,
                                 uint32_t finished_visits) {
  float c = options.c_puct;
  if (options.c_puct_growth != 0) {
    c += options.c_puct_growth *
         std::log((visits + options.c_puct_base + 1) / options.c_puct_base);
  }
  if (options.utility_deviation_scale != 0) {
    c *= DeviationFactor(options, mean, square,
                         static_cast<float>(finished_visits));
  }
  return c;
}

[[gnu::always_inline]] inline Terms TermsOf(AnyTree auto tree,
                                            const TreeNode& node,
                                            NodeShape shape,
                                            uint32_t in_flight) {
  const SearchOptions& options = tree->options;
  const NodeTotals totals = tree.LoadTotals(node);
  const auto visits = static_cast<float>(totals.visits + in_flight);
  const float red_mean = totals.Mean();
  float c = options.c_puct;
  if (options.c_puct_growth != 0 || options.utility_deviation_scale != 0)
      [[unlikely]] {
    c = VaryingC(options, visits, red_mean, tree.Load(node.means).square,
                 totals.visits);
  }
  const bool is_red = shape.side() == kRed;
  return {.scan = {.side_unit = is_red ? kValueUnit : -kValueUnit,
                   .puct = {.exploration = c * std::sqrt(visits)},
                   .first_play = 0},
          .mean = is_red ? red_mean : -red_mean};
}

// `visited_prior` is in units of kPriorUnit.
float FirstPlayUrgencyValue(const SearchOptions& options, bool is_root,
                            float mean, int32_t visited_prior) {
  if (options.first_play_urgency == FirstPlayUrgency::kAbsolute) {
    return is_root && options.root_first_play_urgency.has_value()
               ? *options.root_first_play_urgency
               : options.first_play_urgency_value;
  }
  const float reduction = is_root && options.root_first_play_urgency.has_value()
                              ? *options.root_first_play_urgency
                              : options.first_play_urgency_reduction;
  const float visited = static_cast<float>(visited_prior) * kPriorUnit;
  return mean - reduction * std::sqrt(std::min(visited, 1.0f));
}

// Whether an action to a child cannot be better than the margin that is proved
// for the side to move at the node, while another action is as good as that.
bool IsDominated(bool is_red, MarginBounds child, MarginBounds node) {
  return is_red ? child.high < node.low ||
                      (child.high == node.low && child.low < node.low)
                : child.low > node.high ||
                      (child.low == node.high && child.high > node.high);
}

// Whether what is proved leaves an action out. A search of a settled child
// changes nothing more, and its utility bounds its parent's; but at the root
// its visits show that it is good (`settled_too` false).
bool IsLeftOut(AnyTree auto tree, const TreeNode& child, bool settled_too,
               bool is_red, MarginBounds node) {
  return (settled_too && tree.Load(child.shape).settled()) ||
         IsDominated(is_red, tree.Load(child.bounds), node);
}

// Returns the mean with leaves in flight counted as partly lost.
float WithVirtualLoss(float value, EdgeCounts counts, float virtual_loss) {
  const auto visits = static_cast<float>(counts.visits);
  const float lost = virtual_loss * static_cast<float>(counts.in_flight);
  return (value * visits - lost) / (visits + lost);
}

// Adds one edge to a scan, with a given value.
void AddEdge(const ScanTerms& terms, uint32_t slot, const TreeEdge& edge,
             EdgeCounts counts, float value, ScanResult& result) {
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

// Finds the best edge of a node by value, prior and visits alone.
ScanResult ScanEdges(AnyTree auto tree, const TreeNode& node, NodeShape shape,
                     const ScanTerms& terms) {
  constexpr bool kShared = tree.kShared;
  // The first edges, side by side in a chunk of their own, one by one.
  ScanResult result;
  const int in_first = std::min(shape.num_edges(), NodeStore::kInFirstChunk);
  for (int i = 0; i < in_first; ++i) {
    const uint32_t slot = node.edges + static_cast<uint32_t>(i);
    const TreeEdge& edge = tree.edge(slot);
    const auto counts = tree.Load(edge.counts);
    AddEdge(terms, slot, edge, counts, ValueForSide(terms, counts), result);
  }
  if (shape.num_edges() <= in_first) return result;
  EdgeScan scan(terms);
  tree.ForEachRun(node, shape, [&](uint32_t first, int count) {
    if (first == node.edges) return;
    const TreeEdge* const edges = &tree.edge(first);
    for (int i = 0; i < count; i += EdgeScan::kWidth) {
      const int here = std::min(count - i, EdgeScan::kWidth);
      const uint32_t slot = first + static_cast<uint32_t>(i);
      if constexpr (kShared) {
        // What others write is read edge by edge.
        TreeEdge copies[EdgeScan::kWidth];
        for (int k = 0; k < here; ++k) {
          copies[k].counts = tree.Load(edges[i + k].counts);
          copies[k].prior = edges[i + k].prior;
        }
        scan.Add(copies, slot, here);
      } else {
        scan.Add(edges + i, slot, here);
      }
    }
  });
  return scan.Finish(result);
}

// The same with virtual losses, and without actions that are left out.
ScanResult ScanWithBoundsAndVirtualLoss(AnyTree auto tree, const TreeNode& node,
                                        NodeShape shape, bool settled_too,
                                        const ScanTerms& terms) {
  ScanResult result;
  const auto bounds = tree.Load(node.bounds);
  const bool is_red = shape.side() == kRed;
  const float virtual_loss = tree->options.virtual_loss;
  tree.ForEachEdge(node, shape, [&](uint32_t slot, const TreeEdge& edge) {
    const auto counts = tree.Load(edge.counts);
    if (tree.kShared && counts.claimed()) return;
    const TreeNode& child = tree.node(edge.child);
    if (shape.bounds_below() &&
        IsLeftOut(tree, child, settled_too, is_red, bounds)) {
      return;
    }
    float value = ValueForSide(terms, counts);
    if (counts.in_flight > 0 && virtual_loss > 0) {
      value = WithVirtualLoss(value, counts, virtual_loss);
    }
    AddEdge(terms, slot, edge, counts, value, result);
  });
  return result;
}

// Whether edges may have leaves in flight, or no visits.
bool MayBeInFlight(AnyTree auto tree) {
  return tree.kShared || tree->in_flight > 0 || tree->was_cancelled;
}

// Returns an edge of the root that lacks playouts it must have, or kNoIndex.
uint32_t ForcedEdge(AnyTree auto tree) {
  const TreeNode& root = tree.node(kRoot);
  const NodeTotals totals = tree.LoadTotals(root);
  const auto visits = static_cast<float>(totals.visits - 1 +
                                         (tree.kShared ? 0 : tree->in_flight));
  uint32_t forced = kNoIndex;
  tree.ForEachEdge(
      root, tree.Load(root.shape), [&](uint32_t slot, const TreeEdge& edge) {
        const auto counts = tree.Load(edge.counts);
        const auto has = static_cast<float>(counts.visits + counts.in_flight);
        if (tree.kShared && counts.claimed()) return;
        if (forced == kNoIndex && has * has < tree->options.forced_playouts *
                                                  DecodePrior(edge.prior) *
                                                  visits) {
          forced = slot;
        }
      });
  return forced;
}

Selected SelectByGumbel(OwnTree tree) {
  const TreeNode& root = tree.node(kRoot);
  const float own = tree->RootOwnValue();
  GetGumbelStats(*tree.operator->(), tree->gumbel_stats);
  const int chosen = tree->gumbel->Next(tree->gumbel_stats,
                                        root.shape.side() == kRed ? own : -own);
  Selected selected;
  tree.ForEachEdge(root, root.shape, [&](uint32_t slot, const TreeEdge& edge) {
    if (tree->root_places[edge.action_index] == chosen) selected.edge = slot;
  });
  if (selected.edge != kNoIndex) return selected;
  selected.position = root.shape.num_edges();
  while (tree->root_places[Index(
             tree.candidate(root, selected.position).action())] != chosen) {
    ++selected.position;
  }
  return selected;
}

}  // namespace

Selected SelectAction(AnyTree auto tree, uint32_t index, bool settled_too) {
  const TreeNode& node = tree.node(index);
  const auto shape = tree.Load(node.shape);
  const bool is_root = index == kRoot;
  // 1. The terms that all scores of the node share. With leaves in flight there
  //    may be edges without visits, whose first-play urgency is needed in step
  //    2; otherwise only an action not tried has one, and step 2 sums the
  //    priors that it depends on.
  const bool in_flight = MayBeInFlight(tree);
  EdgeSums sums;
  if (in_flight) sums = SumEdges(tree, node, shape);
  Terms terms = TermsOf(tree, node, shape, sums.in_flight);
  if (in_flight) {
    terms.scan.first_play = FirstPlayUrgencyValue(
        tree->options, is_root, terms.mean, sums.visited_prior);
  }
  // 2. The edge with the best score.
  const bool one_by_one = shape.bounds_below() || sums.any_claimed ||
                          (in_flight && tree->options.virtual_loss > 0);
  const ScanResult best = one_by_one
                              ? ScanWithBoundsAndVirtualLoss(
                                    tree, node, shape, settled_too, terms.scan)
                              : ScanEdges(tree, node, shape, terms.scan);
  // 3. The next action not tried, which has the highest prior of them.
  const int next = shape.num_edges();
  if (next < shape.num_candidates()) {
    if (!in_flight) {
      // A scan one by one leaves edges out of its sum.
      if (one_by_one) sums = SumEdges(tree, node, shape);
      terms.scan.first_play = FirstPlayUrgencyValue(
          tree->options, is_root, terms.mean,
          one_by_one ? sums.visited_prior : best.prior_sum);
    }
    const float prior = DecodePrior(tree.Load(node.next_prior));
    if (terms.scan.puct.Score(terms.scan.first_play, prior, 1.0f) >
        best.score) {
      return {.position = next};
    }
  } else if (best.slot == kNoIndex) {
    if (sums.any_claimed) return {.position = -1};
    // All are left out where the node is settled but not yet marked so.
    return {.edge = node.edges};
  }
  return {.edge = best.slot};
}

Selected SelectRootAction(AnyTree auto tree) {
  if constexpr (!tree.kShared) {
    if (tree->gumbel.has_value()) return SelectByGumbel(tree);
  }
  if (tree->options.forced_playouts > 0) {
    const uint32_t forced = ForcedEdge(tree);
    if (forced != kNoIndex) return {.edge = forced};
  }
  return SelectAction(tree, kRoot, /*settled_too=*/false);
}

Puct PuctOf(const SearchData& data, uint32_t index) {
  const ConstOwnTree tree(data);
  const TreeNode& node = tree.node(index);
  return TermsOf(tree, node, node.shape,
                 SumEdges(tree, node, node.shape).in_flight)
      .scan.puct;
}

void GetGumbelStats(const SearchData& data,
                    std::vector<GumbelRoot::ActionStats>& stats) {
  const TreeNode& root = data.store.node(kRoot);
  const float side_unit = root.shape.side() == kRed ? kValueUnit : -kValueUnit;
  stats.assign(data.root_priors.size(), {});
  data.store.ForEachEdge(root, root.shape, [&](uint32_t, const TreeEdge& edge) {
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

// At a node that needs no evaluation: its value goes up.
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

// Solves a leaf, where the solver can. Returns whether it is terminal now.
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
// nothing. That it is the best so far is then seen in the visits; but they add
// nothing to its value: with every second of them, `selected` becomes one of
// the others, to walk on. Returns how the walk has ended, if it has.
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
  // 6. The leaf is expanded.
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
  // 7. Its value goes up the path.
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

template Selected SelectAction(OwnTree, uint32_t, bool);
template Selected SelectAction(SharedTree, uint32_t, bool);
template Selected SelectRootAction(OwnTree);
template Selected SelectRootAction(SharedTree);
template bool IsFull(OwnTree);
template bool IsFull(SharedTree);
template Gathered GatherLeaf(OwnTree, SearchLeaf&);
template Gathered GatherLeaf(SharedTree, SearchLeaf&);
template void ApplyLeaf(OwnTree, const SearchLeaf&, const Evaluation&);
template void ApplyLeaf(SharedTree, const SearchLeaf&, const Evaluation&);
template void CancelLeaf(OwnTree, const SearchLeaf&);
template void CancelLeaf(SharedTree, const SearchLeaf&);

}  // namespace tara::mcts
