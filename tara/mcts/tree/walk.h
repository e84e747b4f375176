#ifndef TARA_MCTS_TREE_WALK_H_
#define TARA_MCTS_TREE_WALK_H_

#include "absl/types/span.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/tree/search_data.h"

namespace tara::mcts {

// Fills `tempered` with priors^(1/temperature), scaled to sum to 1: above 1 the
// likely actions lose to the others, below 1 they gain. What has no chance has
// none afterwards. Source: lc0, the option PolicyTemperature.
// REQUIRES: temperature > 0; a prior is positive; the spans have one size.
void TemperPriors(absl::Span<const float> priors, float temperature,
                  absl::Span<float> tempered);

// How a walk down the tree has ended.
enum class Gathered {
  kLeaf,      // `leaf` is to be evaluated and applied
  kFinished,  // where nothing is to be evaluated (the game is over, the result
              // is proved, or others have been there): the simulation is done
  kInFlight,  // at a leaf already in flight: apply that first
  kFull,      // the memory limit is reached: search no further
};

// One simulation: down the tree to a leaf, and back up with its value.

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

}  // namespace tara::mcts

#endif  // TARA_MCTS_TREE_WALK_H_
