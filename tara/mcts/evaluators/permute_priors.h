#ifndef TARA_MCTS_EVALUATORS_PERMUTE_PRIORS_H_
#define TARA_MCTS_EVALUATORS_PERMUTE_PRIORS_H_

#include <vector>

#include "tara/core/state.h"
#include "tara/core/symmetry.h"

namespace tara::mcts {

// Turns priors of TransformState(symmetry, state), in the order of its legal
// actions, into those of the state: each goes to the action whose image it was
// given for. REQUIRES: as many priors as there are legal actions.
void PermutePriors(const Symmetry& symmetry, const State& state,
                   std::vector<float>& priors);

}  // namespace tara::mcts

#endif  // TARA_MCTS_EVALUATORS_PERMUTE_PRIORS_H_
