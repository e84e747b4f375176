#ifndef TARA_EVAL_PLAYER_H_
#define TARA_EVAL_PLAYER_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/state.h"

namespace tara {

// Chooses actions. Stateless between calls, so that one player can play many
// games at once; all randomness comes from the games' own streams.
// Not thread-safe.
class Player {
 public:
  virtual ~Player() = default;

  // Fills actions[i] with the choice in states[i], drawing from *randoms[i].
  // REQUIRES: no state is finished; the spans have one size.
  virtual absl::Status ChooseActions(absl::Span<const State> states,
                                     absl::Span<Random* const> randoms,
                                     absl::Span<Action> actions) = 0;
};

// Makes a player from a spec:
//   random                    uniform over legal actions
//   greedy                    maximises the score right after the action
//   mcts:sims=N[,c_puct=X][,playouts=K]      search with random playouts
//   net:PATH[,sims=N][,c_puct=X]   a checkpoint; sims=0: the policy alone;
//                             PATH may be a run's folder (its latest checkpoint)
// Returns INVALID_ARGUMENT naming what is wrong and what was expected, or the
// error of loading the network.
absl::StatusOr<std::unique_ptr<Player>> MakePlayer(absl::string_view spec);

// One line a kind, for --help.
std::string PlayerSpecHelp();

}  // namespace tara

#endif  // TARA_EVAL_PLAYER_H_
