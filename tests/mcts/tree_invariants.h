#ifndef TARA_TESTS_MCTS_TREE_INVARIANTS_H_
#define TARA_TESTS_MCTS_TREE_INVARIANTS_H_

#include <optional>

#include "tara/core/state.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/tree/tree.h"

namespace tara::mcts {

// Expects of every node of a tree, with no leaf in flight, by going through all
// of it:
// - the visits are 1 (its evaluation) and those of its edges, the sum of values
//   is that of its evaluation, asked for anew, and of what its edges hold;
// - each edge leads to the position after its action; the edges and the untried
//   candidates are the legal actions, and the next candidate has the highest
//   prior of those;
// - in a tree: each node that was visited, but the root, has one edge into it,
//   which holds its visits and mean; in a graph: no two nodes that have an edge
//   into them are of one position.
void ExpectInvariants(const Tree& tree, Evaluator& evaluator);

// Returns Red's margin with best play of both sides, by plain minimax over
// every line; nothing after `budget` positions, which it counts down.
std::optional<int> ExactMargin(const State& state, int& budget);

}  // namespace tara::mcts

#endif  // TARA_TESTS_MCTS_TREE_INVARIANTS_H_
