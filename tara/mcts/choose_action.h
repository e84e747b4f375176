#ifndef TARA_MCTS_CHOOSE_ACTION_H_
#define TARA_MCTS_CHOOSE_ACTION_H_

#include <cstdint>

#include "absl/types/span.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/playout_statistics.h"

namespace tara {

// One legal action of the root after a search. Values and margins are for the
// side to move at the root.
struct RootAction {
  Action action;
  float prior;  // without noise
  int visits;
  float mean_value;  // Q, in [-1, 1]; 0 if not visited
  // Standard deviation of the utilities of its simulations.
  float value_deviation = 0;
  // Proved bounds of the final margin after this action.
  int8_t low = -kMaxMargin;
  int8_t high = kMaxMargin;
};

// Draws an action from visits^(1/temperature). Temperature 0 gives the most
// visited; ties go to the higher prior, then to the higher mean value, then
// are drawn. REQUIRES: at least one visit; temperature >= 0.
Action ChooseAction(absl::Span<const RootAction> actions, float temperature,
                    Random& random);

}  // namespace tara

#endif  // TARA_MCTS_CHOOSE_ACTION_H_
