#ifndef TARA_MCTS_TREE_WALK_H_
#define TARA_MCTS_TREE_WALK_H_

#include <cstdint>
#include <vector>

#include "tara/core/state.h"
#include "tara/mcts/choice/choose_action.h"
#include "tara/mcts/choice/root_exploration.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/tree/node.h"
#include "tara/mcts/tree/search_data.h"

namespace tara::mcts {

// A leaf in flight, from Gather to Apply or Cancel. Reuse keeps its memory.
struct SearchLeaf {
  State state;
  std::vector<uint32_t> path;  // edges from the root; empty: the root
};

// How a walk down the tree has ended.
enum class Gathered {
  kLeaf,      // `leaf` needs an evaluation, then ApplyLeaf
  kFinished,  // with nothing to evaluate (the game is over, the result
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
//               4. It continues along the edge, from 1.
//               5. In a graph it may end where others have been.
//   the caller     evaluates the state of the leaf.
//   ApplyLeaf   6. The evaluation expands the leaf: its priors become
//                  candidates, its value is the first of its mean.
//               7. The value goes up the path: SearchData::BackUp.

// Walks down from the root. REQUIRES: the root is not finished.
Gathered GatherLeaf(SearchData& data, SearchLeaf& leaf);

// Gives the leaf its evaluation and adds it to all that is above.
// REQUIRES: the leaf is in flight.
void ApplyLeaf(SearchData& data, const SearchLeaf& leaf,
               const Evaluation& evaluation);

// Takes the leaf back. REQUIRES: it is in flight.
void CancelLeaf(SearchData& data, const SearchLeaf& leaf);

// --- Parts of a simulation, for other parts of the tree ----------------------

// Returns the formula with the terms of a node. REQUIRES: it is expanded.
Puct PuctOf(const SearchData& data, uint32_t node);

// Fills `stats` with the statistics of the root's actions that a Gumbel root
// decides by, in the order of legal actions. REQUIRES: data.gumbel.
void GetGumbelStats(const SearchData& data,
                    std::vector<GumbelRoot::ActionStats>& stats);

}  // namespace tara::mcts

#endif  // TARA_MCTS_TREE_WALK_H_
