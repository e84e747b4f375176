#ifndef TARA_TESTS_MCTS_SIMPLE_SEARCH_H_
#define TARA_TESTS_MCTS_SIMPLE_SEARCH_H_

#include <vector>

#include "tara/core/state.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/options/search_options.h"

namespace tara::mcts {

// The simple twin of Tree: one recursive function over nodes that own their
// children; no arenas, no sums that are kept up to date (every mean is computed
// anew from the children, every time), nothing in flight, no noise, no graph,
// no proof. Its visits are those of Tree exactly: priors and values are rounded
// as the tree keeps them (priors to 12 significant bits, values to 1/16384).
// Returns the visits of the root's actions after options.simulations.
std::vector<int> SimpleSearch(const State& root, Evaluator& evaluator,
                              const SearchOptions& options);

}  // namespace tara::mcts

#endif  // TARA_TESTS_MCTS_SIMPLE_SEARCH_H_
