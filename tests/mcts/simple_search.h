#ifndef TARA_TESTS_MCTS_SIMPLE_SEARCH_H_
#define TARA_TESTS_MCTS_SIMPLE_SEARCH_H_

#include <vector>

#include "tara/core/state.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/tree.h"

namespace tara {

// The simple twin of Tree: one recursive function over nodes that own their
// children, no arenas, nothing in flight, no noise. Returns the visits of the
// root's actions after options.simulations simulations.
std::vector<int> SimpleSearch(const State& root, Evaluator& evaluator,
                              const SearchOptions& options);

}  // namespace tara

#endif  // TARA_TESTS_MCTS_SIMPLE_SEARCH_H_
