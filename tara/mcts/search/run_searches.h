#ifndef TARA_MCTS_SEARCH_RUN_SEARCHES_H_
#define TARA_MCTS_SEARCH_RUN_SEARCHES_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/tree/tree.h"

namespace tara::mcts {

struct RunOptions {
  // Leaves of one tree in one batch, at most. More than 1 fills the batches of
  // a few trees but chooses each leaf without knowing the value of the others,
  // which costs strength at equal simulations.
  int leaves_per_tree = 1;
};

// Runs the simulations of all trees to the end, the leaves of all trees in one
// batch; trees that are done (or finished) are left as they are. What a tree
// does depends neither on the other trees nor on the batches.
// Errors as the evaluator's; no leaf is then left in flight.
// REQUIRES: no leaf is in flight; no tree is given twice.
absl::Status RunSearches(absl::Span<Tree* const> trees, Evaluator& evaluator,
                         const RunOptions& options = {});

}  // namespace tara::mcts

#endif  // TARA_MCTS_SEARCH_RUN_SEARCHES_H_
