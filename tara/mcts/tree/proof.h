#ifndef TARA_MCTS_TREE_PROOF_H_
#define TARA_MCTS_TREE_PROOF_H_

#include <cstdint>

#include "tara/mcts/tree/search_data.h"

namespace tara::mcts {

// Carries what is proved of a child up to its parent: the side to move has at
// least the best that any action is proved to give, and, once all actions have
// an edge, at most the best that any action may give. Settles the parent where
// its bounds settle its utility.
//
// `changed`: the child's bounds may have changed since the parent last saw
// them. Returns whether the parent's have.
template <bool kShared>
bool ProveFromChild(SearchData& data, uint32_t parent, uint32_t child,
                    bool changed);

// The same from all children. O(edges of the node).
template <bool kShared>
bool ProveFromChildren(SearchData& data, uint32_t parent);

}  // namespace tara::mcts

#endif  // TARA_MCTS_TREE_PROOF_H_
