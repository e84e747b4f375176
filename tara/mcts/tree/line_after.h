#ifndef TARA_MCTS_TREE_LINE_AFTER_H_
#define TARA_MCTS_TREE_LINE_AFTER_H_

#include <vector>

#include "tara/core/action.h"
#include "tara/mcts/tree/tree.h"

namespace tara::mcts {

// Returns the most visited line from the root that begins with `action`, which
// comes first in it; the action alone if the search has not been there. With
// the most visited action it is Tree::principal_variation.
// REQUIRES: the action is legal at the root; the tree is not shared.
std::vector<Action> LineAfter(const Tree& tree, Action action);

}  // namespace tara::mcts

#endif  // TARA_MCTS_TREE_LINE_AFTER_H_
