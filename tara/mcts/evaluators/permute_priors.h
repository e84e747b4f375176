#ifndef TARA_MCTS_EVALUATORS_PERMUTE_PRIORS_H_
#define TARA_MCTS_EVALUATORS_PERMUTE_PRIORS_H_

#include <vector>

#include "tara/core/state.h"
#include "tara/core/symmetry.h"

namespace tara::mcts {

// Priors of TransformState(symmetry, state), in the order of its legal actions,
// become those of the state: what a symmetric position was told of an action is
// told of the action that it stands for.
// REQUIRES: as many priors as there are legal actions.
void PermutePriors(const Symmetry& symmetry, const State& state,
                   std::vector<float>& priors);

}  // namespace tara::mcts

#endif  // TARA_MCTS_EVALUATORS_PERMUTE_PRIORS_H_
