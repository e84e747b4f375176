#ifndef TARA_ENGINE_RANKED_ACTIONS_H_
#define TARA_ENGINE_RANKED_ACTIONS_H_

#include <vector>

#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/mcts/choice/choose_action.h"
#include "tara/mcts/tree/tree.h"

namespace tara::engine {

// Returns the action to play after a search, as EngineOptions has
// `confidence_z` and `temperature`. REQUIRES: a simulation through the root's
// actions, or a proved root.
Action ChooseFrom(const mcts::Tree& tree, float confidence_z, float temperature,
                  Random& random);

// Returns the root's actions in the order in which the engine would play them:
// the one that ChooseFrom takes at temperature 0, then by visits, then by
// priors. Empty before the root's evaluation.
std::vector<mcts::RootAction> RankActions(const mcts::Tree& tree,
                                          float confidence_z);

}  // namespace tara::engine

#endif  // TARA_ENGINE_RANKED_ACTIONS_H_
