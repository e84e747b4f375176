#include "tara/mcts/selection.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tara/core/board.h"

namespace tara {
namespace {

// What all actions of a node have in common.
struct Terms {
  bool is_red;
  float side_unit;    // a unit of value for the side to move
  float exploration;  // c(N) * sqrt(N)
  float mean;         // of the node, for the side to move
  float virtual_loss;
};

// What is summed over the edges of a node where leaves are in flight.
struct EdgeSums {
  float visited_prior = 0;
  uint32_t in_flight = 0;
};

template <bool kShared>
EdgeSums SumEdges(const SearchData& data, const TreeNode& node,
                  NodeShape shape) {
  EdgeSums sums;
  data.store.ForEachEdge<kShared>(
      node, shape, [&](uint32_t, const TreeEdge& edge) {
        const auto counts = Load<kShared>(edge.counts);
        sums.in_flight += counts.in_flight;
        if (counts.visits > 0) sums.visited_prior += DecodePrior(edge.prior);
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

template <bool kShared>
Terms TermsOf(const SearchData& data, const TreeNode& node, NodeShape shape,
              uint32_t in_flight) {
  const SearchOptions& options = data.options;
  const NodeTotals totals = UnpackTotals(Load<kShared>(node.totals));
  const auto visits = static_cast<float>(totals.visits + in_flight);
  float c = options.c_puct;
  if (options.c_puct_growth != 0) {
    c += options.c_puct_growth *
         std::log((visits + options.c_puct_base + 1) / options.c_puct_base);
  }
  const float red_mean = totals.Mean();
  if (options.utility_deviation_scale != 0) {
    c *= DeviationFactor(options, red_mean, Load<kShared>(node.means).square,
                         static_cast<float>(totals.visits));
  }
  const bool is_red = shape.side() == kRed;
  return {.is_red = is_red,
          .side_unit = is_red ? kValueUnit : -kValueUnit,
          .exploration = c * std::sqrt(visits),
          .mean = is_red ? red_mean : -red_mean,
          .virtual_loss = options.virtual_loss};
}

float FirstPlayUrgencyValue(const SearchOptions& options, bool is_root,
                            float mean, float visited_prior) {
  if (options.first_play_urgency == FirstPlayUrgency::kAbsolute) {
    return is_root && options.root_first_play_urgency.has_value()
               ? *options.root_first_play_urgency
               : options.first_play_urgency_value;
  }
  const float reduction = is_root && options.root_first_play_urgency.has_value()
                              ? *options.root_first_play_urgency
                              : options.first_play_urgency_reduction;
  return mean - reduction * std::sqrt(std::min(visited_prior, 1.0f));
}

// Whether an action to a child cannot be better than what the side to move has
// at the node for sure, while another action is as good as that.
bool IsDominated(bool is_red, MarginBounds child, MarginBounds node) {
  return is_red ? child.high < node.low ||
                      (child.high == node.low && child.low < node.low)
                : child.low > node.high ||
                      (child.low == node.high && child.high > node.high);
}

// Returns the mean with leaves in flight counted as partly lost.
float WithVirtualLoss(float value, EdgeCounts counts, float virtual_loss) {
  const auto visits = static_cast<float>(counts.visits);
  const float lost = virtual_loss * static_cast<float>(counts.in_flight);
  return (value * visits - lost) / (visits + lost);
}

// kInFlight: edges may have leaves in flight, or no visits. kBounds: bounds of
// children count.
template <bool kShared, bool kInFlight, bool kBounds>
Selected Select(const SearchData& data, uint32_t index) {
  const TreeNode& node = data.store.node(index);
  const NodeShape shape = Load<kShared>(node.shape);
  const bool is_root = index == SearchData::kRoot;
  EdgeSums sums;
  if constexpr (kInFlight) sums = SumEdges<kShared>(data, node, shape);
  const Terms terms = TermsOf<kShared>(data, node, shape, sums.in_flight);
  float first_play = 0;
  if constexpr (kInFlight) {
    first_play = FirstPlayUrgencyValue(data.options, is_root, terms.mean,
                                       sums.visited_prior);
  }
  MarginBounds bounds;
  if constexpr (kBounds) bounds = Load<kShared>(node.bounds);

  Selected best;
  float best_score = -std::numeric_limits<float>::infinity();
  data.store.ForEachEdge<kShared>(
      node, shape, [&](uint32_t slot, const TreeEdge& edge) {
        const float prior = DecodePrior(edge.prior);
        const auto counts = Load<kShared>(edge.counts);
        float value = terms.side_unit * static_cast<float>(counts.value);
        uint32_t visits = counts.visits;
        if constexpr (kInFlight) {
          if (counts.visits == 0) value = first_play;
          if (counts.in_flight > 0 && terms.virtual_loss > 0) {
            value = WithVirtualLoss(value, counts, terms.virtual_loss);
          }
          visits += counts.in_flight;
        } else {
          sums.visited_prior += prior;
        }
        if constexpr (kBounds) {
          const TreeNode& child = data.store.node(Load<kShared>(edge.child));
          if (IsDominated(terms.is_red, Load<kShared>(child.bounds), bounds)) {
            return;
          }
        }
        const float score =
            value + terms.exploration * prior /
                        static_cast<float>(static_cast<int32_t>(1 + visits));
        if (score > best_score) {
          best_score = score;
          best.edge = slot;
        }
      });
  const int next = shape.num_edges();
  if (next == shape.num_candidates()) return best;
  if constexpr (!kInFlight) {
    first_play = FirstPlayUrgencyValue(data.options, is_root, terms.mean,
                                       sums.visited_prior);
  }
  const float prior =
      DecodePrior(data.store.candidate<kShared>(node, next).prior());
  if (first_play + terms.exploration * prior > best_score) {
    best = {.position = next};
  }
  return best;
}

// Returns an edge of the root that lacks playouts it must have, or kNoIndex.
template <bool kShared>
uint32_t ForcedEdge(const SearchData& data) {
  const TreeNode& root = data.store.node(SearchData::kRoot);
  const NodeTotals totals = UnpackTotals(Load<kShared>(root.totals));
  const auto visits = static_cast<float>(totals.visits - 1) +
                      static_cast<float>(Load<kShared>(data.in_flight));
  uint32_t forced = kNoIndex;
  data.store.ForEachEdge<kShared>(
      root, Load<kShared>(root.shape),
      [&](uint32_t slot, const TreeEdge& edge) {
        const auto counts = Load<kShared>(edge.counts);
        const auto has = static_cast<float>(counts.visits + counts.in_flight);
        if (forced == kNoIndex && has * has < data.options.forced_playouts *
                                                  DecodePrior(edge.prior) *
                                                  visits) {
          forced = slot;
        }
      });
  return forced;
}

Selected SelectByGumbel(const SearchData& data) {
  const TreeNode& root = data.store.node(SearchData::kRoot);
  const float own = static_cast<float>(root.own_value) * kValueUnit;
  const int chosen = data.gumbel->Next(GumbelStats(data),
                                       root.shape.side() == kRed ? own : -own);
  Selected selected;
  data.store.ForEachEdge(root, root.shape,
                         [&](uint32_t slot, const TreeEdge& edge) {
                           if (data.root_places[edge.action_index] == chosen)
                             selected.edge = slot;
                         });
  if (selected.edge != kNoIndex) return selected;
  selected.position = root.shape.num_edges();
  while (data.root_places[Index(
             data.store.candidate(root, selected.position).action())] !=
         chosen) {
    ++selected.position;
  }
  return selected;
}

}  // namespace

template <bool kShared>
Selected SelectAction(const SearchData& data, uint32_t index) {
  const NodeShape shape = Load<kShared>(data.store.node(index).shape);
  if (shape.bounds_below()) [[unlikely]] {
    const Selected selected = Select<kShared, true, true>(data, index);
    // All are left out where the node is settled: then any will do.
    if (selected.edge != kNoIndex || selected.position > 0) return selected;
  }
  return kShared || data.in_flight > 0 || data.was_cancelled
             ? Select<kShared, true, false>(data, index)
             : Select<kShared, false, false>(data, index);
}

template <bool kShared>
Selected SelectRootAction(const SearchData& data) {
  if constexpr (!kShared) {
    if (data.gumbel.has_value()) return SelectByGumbel(data);
  }
  if (data.options.forced_playouts > 0) {
    const uint32_t forced = ForcedEdge<kShared>(data);
    if (forced != kNoIndex) return {.edge = forced};
  }
  return SelectAction<kShared>(data, SearchData::kRoot);
}

float Exploration(const SearchData& data, uint32_t index) {
  const TreeNode& node = data.store.node(index);
  return TermsOf<false>(data, node, node.shape,
                        SumEdges<false>(data, node, node.shape).in_flight)
      .exploration;
}

std::vector<GumbelRoot::ActionStats> GumbelStats(const SearchData& data) {
  const TreeNode& root = data.store.node(SearchData::kRoot);
  const float side_unit = root.shape.side() == kRed ? kValueUnit : -kValueUnit;
  std::vector<GumbelRoot::ActionStats> stats(data.root_priors.size());
  data.store.ForEachEdge(root, root.shape, [&](uint32_t, const TreeEdge& edge) {
    const size_t place = data.root_places[edge.action_index];
    const EdgeCounts counts = edge.counts;
    stats[place] = {
        .visits = static_cast<int>(counts.visits + counts.in_flight -
                                   data.gumbel_base_visits[place]),
        .value = side_unit * static_cast<float>(counts.value),
        .in_flight = counts.in_flight};
  });
  return stats;
}

template Selected SelectAction<false>(const SearchData&, uint32_t);
template Selected SelectAction<true>(const SearchData&, uint32_t);
template Selected SelectRootAction<false>(const SearchData&);
template Selected SelectRootAction<true>(const SearchData&);

}  // namespace tara
