#ifndef TARA_MCTS_TREE_SELECTION_H_
#define TARA_MCTS_TREE_SELECTION_H_

#include <cstdint>
#include <vector>

#include "tara/mcts/tree/search_data.h"

namespace tara::mcts {

// The way on from a node: one of its edges, or an action not tried yet.
struct Selected {
  uint32_t edge = kNoIndex;
  // edge is kNoIndex: of the action among the candidates; -1 where other
  // threads have all there is to themselves
  int position = 0;
};

// Picks the way on from an expanded node: the one with the largest
//
//   Q + c(N) * P * sqrt(N) / (1 + n)
//
// where Q is the value for the side to move and n the visits of the action,
// those in flight included; N is the visits of the node, its own evaluation and
// those in flight included; the options say what c is. Of equals, the first:
// edges before actions not tried. Source: Silver et al. 2017 (Nature 550),
// Methods, "Select".
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
template <bool kShared>
Selected SelectAction(const SearchData& data, uint32_t node, bool settled_too);

// The same at the root, with forced playouts or by Gumbel noise where the
// options say so. REQUIRES: kShared: not options.gumbel.
template <bool kShared>
Selected SelectRootAction(SearchData& data);

// Returns the factor of P / (1 + n) in the scores of a node: c(N) * sqrt(N).
// One owner. REQUIRES: the node is expanded.
float Exploration(const SearchData& data, uint32_t node);

// Fills `stats` with what the Gumbel root is to know of each root action, in
// the order of legal actions. REQUIRES: data.gumbel.
void GetGumbelStats(const SearchData& data,
                    std::vector<GumbelRoot::ActionStats>& stats);

}  // namespace tara::mcts

#endif  // TARA_MCTS_TREE_SELECTION_H_
