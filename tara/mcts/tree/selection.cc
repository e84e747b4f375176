#include "tara/mcts/tree/selection.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tara/core/board.h"

namespace tara::mcts {
namespace {

// What the actions of a node have in common.
struct Terms {
  ScanTerms scan;
  float mean;  // of the node, for the side to move
};

// What is summed over the edges of a node where leaves are in flight.
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
                   .exploration = c * std::sqrt(visits),
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

// Whether an action to a child cannot be better than what the side to move has
// at the node for sure, while another action is as good as that.
bool IsDominated(bool is_red, MarginBounds child, MarginBounds node) {
  return is_red ? child.high < node.low ||
                      (child.high == node.low && child.low < node.low)
                : child.low > node.high ||
                      (child.low == node.high && child.high > node.high);
}

// Whether what is proved leaves an action out. A settled child has nothing more
// to tell, and what it is worth bounds what its parent is; but at the root its
// visits say that it is good (`settled_too` false).
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
  const float score =
      PuctScore(value, terms.exploration, DecodePrior(edge.prior),
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
  const TreeNode& root = tree.node(SearchData::kRoot);
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
  const TreeNode& root = tree.node(SearchData::kRoot);
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
  const bool is_root = index == SearchData::kRoot;
  const bool in_flight = MayBeInFlight(tree);
  EdgeSums sums;
  if (in_flight) sums = SumEdges(tree, node, shape);
  Terms terms = TermsOf(tree, node, shape, sums.in_flight);
  if (in_flight) {
    terms.scan.first_play = FirstPlayUrgencyValue(
        tree->options, is_root, terms.mean, sums.visited_prior);
  }
  const bool with_care = shape.bounds_below() || sums.any_claimed ||
                         (in_flight && tree->options.virtual_loss > 0);
  const ScanResult best = with_care
                              ? ScanWithBoundsAndVirtualLoss(
                                    tree, node, shape, settled_too, terms.scan)
                              : ScanEdges(tree, node, shape, terms.scan);
  const int next = shape.num_edges();
  if (next < shape.num_candidates()) {
    if (!in_flight) {
      // A scan with care leaves edges out of its sum.
      if (with_care) sums = SumEdges(tree, node, shape);
      terms.scan.first_play = FirstPlayUrgencyValue(
          tree->options, is_root, terms.mean,
          with_care ? sums.visited_prior : best.prior_sum);
    }
    const float prior = DecodePrior(tree.Load(node.next_prior));
    if (PuctScore(terms.scan.first_play, terms.scan.exploration, prior, 1.0f) >
        best.score) {
      return {.position = next};
    }
  } else if (best.slot == kNoIndex) {
    if (sums.any_claimed) return {.position = -1};
    // All are left out where the node is settled and does not know yet.
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
  return SelectAction(tree, SearchData::kRoot, /*settled_too=*/false);
}

float Exploration(const SearchData& data, uint32_t index) {
  const ConstOwnTree tree(data);
  const TreeNode& node = tree.node(index);
  return TermsOf(tree, node, node.shape,
                 SumEdges(tree, node, node.shape).in_flight)
      .scan.exploration;
}

void GetGumbelStats(const SearchData& data,
                    std::vector<GumbelRoot::ActionStats>& stats) {
  const TreeNode& root = data.store.node(SearchData::kRoot);
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

template Selected SelectAction(OwnTree, uint32_t, bool);
template Selected SelectAction(SharedTree, uint32_t, bool);
template Selected SelectRootAction(OwnTree);
template Selected SelectRootAction(SharedTree);

}  // namespace tara::mcts
