#ifndef TARA_TESTS_MCTS_TREE_INVARIANTS_H_
#define TARA_TESTS_MCTS_TREE_INVARIANTS_H_

#include <vector>

#include "tara/core/action.h"
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
// - in a tree: each node but the root has one edge into it, which holds its
//   visits and mean; in a graph: no two nodes are of one position.
void ExpectInvariants(const Tree& tree, Evaluator& evaluator);

// Returns the visits of the root's actions, in the order of root_actions().
std::vector<int> Visits(const Tree& tree);

// Returns the action that is proved best. REQUIRES: tree.settled().
Action ProvedAction(const Tree& tree);

}  // namespace tara::mcts

#endif  // TARA_TESTS_MCTS_TREE_INVARIANTS_H_
