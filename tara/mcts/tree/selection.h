#ifndef TARA_MCTS_TREE_SELECTION_H_
#define TARA_MCTS_TREE_SELECTION_H_

#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "tara/mcts/choice/puct.h"
#include "tara/mcts/tree/node.h"
#include "tara/mcts/tree/search_data.h"

namespace tara::mcts {

// What the scores of a node's edges have in common; see selection.h.
struct ScanTerms {
  float side_unit;    // a unit of value for the side to move
  float exploration;  // c(N) * sqrt(N)
  float first_play;   // value of edges without visits
};

// Prior probabilities are summed in units of 2^-24: exact in any order.
inline constexpr float kPriorUnit = 0x1.0p-24f;

// The best edge so far, and the sum of the priors seen.
struct ScanResult {
  float score = -std::numeric_limits<float>::infinity();
  uint32_t slot = kNoIndex;
  int32_t prior_sum = 0;
};

// Scores of eight edges at a time (PuctScore, with the visits in flight), in
// the arithmetic of vectors that the compiler maps to what the machine has.
// Takes the first of the best.
class EdgeScan {
 public:
  static constexpr int kWidth = 8;

  explicit EdgeScan(const ScanTerms& terms) : terms_(terms) {}

  // Adds the edges in the first `count` of eight slots from `edges` on, which
  // are slots `first` on of the arena. REQUIRES: all eight may be read.
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
    const Floats score =
        PuctScore(value, terms_.exploration, prior, Convert(all_visits));
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

// The way on from a node: one of its edges, or an action not tried yet.
struct Selected {
  uint32_t edge = kNoIndex;
  // edge is kNoIndex: of the action among the candidates; -1 where other
  // threads have all there is to themselves
  int position = 0;
};

// Picks the way on from an expanded node: the one with the largest PuctScore
// (tara/mcts/choice/puct.h), where Q is the value for the side to move and n
// the visits of the action, those in flight included; N is the visits of the
// node, its own evaluation and those in flight included; the options say what c
// is. Of equals, the first: edges before actions not tried.
//
// Actions without a value have one by first-play urgency instead of Q. It is
// the same for all of a node, so that of those not tried at all only the one
// with the highest prior can be picked. Source: Gelly and Wang 2006,
// "Exploration exploitation in Go"; its reduction with the prior probability of
// the actions tried, Wu 2019 (arXiv:1902.10565), appendix A.
//
// With proof, actions are left out that another one of the node is proved to be
// as good as, and, with `settled_too`, those whose worth is settled: as long as
// others are left.
Selected SelectAction(AnyTree auto tree, uint32_t node, bool settled_too);

// The same at the root, with forced playouts or by Gumbel noise where the
// options say so. REQUIRES: a shared tree has no
// options.gumbel.
Selected SelectRootAction(AnyTree auto tree);

// Returns the factor of P / (1 + n) in the scores of a node: c(N) * sqrt(N).
// One owner. REQUIRES: the node is expanded.
float Exploration(const SearchData& data, uint32_t node);

// Fills `stats` with what the Gumbel root is to know of each root action, in
// the order of legal actions. REQUIRES: tree->gumbel.
void GetGumbelStats(const SearchData& data,
                    std::vector<GumbelRoot::ActionStats>& stats);

}  // namespace tara::mcts

#endif  // TARA_MCTS_TREE_SELECTION_H_
