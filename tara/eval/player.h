#ifndef TARA_EVAL_PLAYER_H_
#define TARA_EVAL_PLAYER_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/state.h"
#include "tara/mcts/utility.h"

namespace tara {

// Chooses actions. Stateless between calls, so that one player can play many
// games at once; all randomness comes from the games' own streams, so that a
// game does not depend on those played beside it. Not thread-safe.
// Players are made from specs by tara/eval/make_player.h.
class Player {
 public:
  virtual ~Player() = default;

  // Fills actions[i] with the choice in states[i], drawing from *randoms[i].
  // Returns the error of what the player thinks with (a network's backend).
  // REQUIRES: no state is finished; the spans have one size.
  virtual absl::Status ChooseActions(absl::Span<const State> states,
                                     absl::Span<Random* const> randoms,
                                     absl::Span<Action> actions) = 0;

  // The same in games of matches: matches[i] is how that of states[i] stood
  // when its game began. Most players play every game by itself.
  virtual absl::Status ChooseActionsInMatches(
      absl::Span<const State> states, absl::Span<const MatchScore> /*matches*/,
      absl::Span<Random* const> randoms, absl::Span<Action> actions) {
    return ChooseActions(states, randoms, actions);
  }
};

}  // namespace tara

#endif  // TARA_EVAL_PLAYER_H_
