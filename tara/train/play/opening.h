#ifndef TARA_TRAIN_PLAY_OPENING_H_
#define TARA_TRAIN_PLAY_OPENING_H_

#include <vector>

#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/state.h"

namespace tara::train {

// Warm starts: some games begin with random actions, so that positions that the
// players would not reach are learned from too.
struct OpeningOptions {
  float share = 0;    // of the games that have such an opening
  int max_plies = 8;  // 1 to so many, each as likely
};

struct Opening {
  std::vector<Action> actions;
  State state;  // after them; not finished
};

// Draws the opening of a game: uniformly random legal actions, each without
// regard to whose turn it is. Ends before an action that would end the game.
// Draws nothing from `random` where share is 0.
// REQUIRES: `start` is not finished; max_plies >= 1.
Opening DrawOpening(const OpeningOptions& options, const State& start,
                    Random& random);

}  // namespace tara::train

#endif  // TARA_TRAIN_PLAY_OPENING_H_
