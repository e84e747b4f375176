#ifndef TARA_MCTS_TIME_GAME_LENGTH_H_
#define TARA_MCTS_TIME_GAME_LENGTH_H_

#include "tara/core/state.h"

namespace tara::mcts {

// Returns about how many actions, of all seats, a game lasts from a position
// on: what a player's time is shared out by. At least 1; 0 if finished. Of
// random games it is right on average within some actions; strong play, which
// fills the board as well, is much alike. O(1).
float ExpectedActionsLeft(const State& state);

}  // namespace tara::mcts

#endif  // TARA_MCTS_TIME_GAME_LENGTH_H_
