#ifndef TARA_MCTS_TREE_WALK_H_
#define TARA_MCTS_TREE_WALK_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "tara/mcts/choice/gumbel_root.h"
#include "tara/mcts/choice/puct.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/tree/node.h"
#include "tara/mcts/tree/search_data.h"

namespace tara::mcts {

// How a walk down the tree has ended.
enum class Gathered {
  kLeaf,      // `leaf` is to be evaluated and applied
  kFinished,  // where nothing is to be evaluated (the game is over, the result
              // is proved, or others have been there): the simulation is done
  kInFlight,  // at a leaf already in flight: apply that first
  kFull,      // the memory limit is reached: search no further
};

// One simulation: down the tree to a leaf, and back up with its value.
//
//   GatherLeaf  1. The walk ends at a node that is not expanded (a leaf), or
//                  whose value is known.
//               2. Otherwise it selects the best action: SelectAction.
//               3. One that was not tried yet gets an edge and a node.
//               4. It goes on along the edge, from 1.
//               5. In a graph it may end where others have been.
//   the caller     evaluates the state of the leaf.
//   ApplyLeaf   6. The evaluation expands the leaf: its priors become
//                  candidates, its value is the first of its mean.
//               7. The value goes up the path: BackUp (backup.h).

// Walks down from where walks start. REQUIRES: the root is not finished.
Gathered GatherLeaf(AnyTree auto tree, SearchLeaf& leaf);

// Gives the leaf its evaluation and adds it to all that is above.
// REQUIRES: the leaf is in flight.
void ApplyLeaf(AnyTree auto tree, const SearchLeaf& leaf,
               const Evaluation& evaluation);

// Takes the leaf back. REQUIRES: it is in flight.
void CancelLeaf(AnyTree auto tree, const SearchLeaf& leaf);

// Whether another simulation might not find room.
bool IsFull(AnyTree auto tree);

// --- Parts of a simulation, for other parts of the tree and for tests --------

// Fills `tempered` with priors^(1/temperature), scaled to sum to 1: above 1 the
// likely actions lose to the others, below 1 they gain. What has no chance has
// none afterwards. Source: lc0, the option PolicyTemperature.
// REQUIRES: temperature > 0; a prior is positive; the spans have one size.
void TemperPriors(absl::Span<const float> priors, float temperature,
                  absl::Span<float> tempered);

// The way on from a node: one of its edges, or an action not tried yet.
struct Selected {
  uint32_t edge = kNoIndex;
  // edge is kNoIndex: of the action among the candidates; -1 where other
  // threads have all there is to themselves
  int position = 0;
};

// Picks the way on from an expanded node: the one with the largest score
// (tara/mcts/choice/puct.h), where Q is the value for the side to move and n
// the visits of the action, those in flight included; N is the visits of the
// node, its own evaluation and those in flight included; c is that of the
// options. Of equals, the first: edges before actions not tried.
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
Selected SelectAction(AnyTree auto tree, uint32_t node, bool settled_too);

// The same at the root, with options.forced_playouts or options.gumbel.
// REQUIRES: a shared tree has no options.gumbel.
Selected SelectRootAction(AnyTree auto tree);

// Returns the formula with the terms of a node. One owner.
// REQUIRES: the node is expanded.
Puct PuctOf(const SearchData& data, uint32_t node);

// Fills `stats` with the statistics of the root's actions that a Gumbel root
// decides by, in the order of legal actions. REQUIRES: data.gumbel.
void GetGumbelStats(const SearchData& data,
                    std::vector<GumbelRoot::ActionStats>& stats);

}  // namespace tara::mcts

#endif  // TARA_MCTS_TREE_WALK_H_
