#ifndef TARA_EVAL_PLAYERS_PLAYER_H_
#define TARA_EVAL_PLAYERS_PLAYER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "tara/base/random.h"
#include "tara/base/stop.h"
#include "tara/core/action.h"
#include "tara/core/state.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/time/time_manager.h"
#include "tara/mcts/utility.h"

namespace tara::eval {

// What a player found in a position in which it chooses, as far as it has it.
// Values are for the side to move, win minus loss, in [-1, 1].
struct SearchReport {
  std::optional<float> value = {};
  // By legal action, in the order of LegalSet::ForEach: the share of visits, or
  // of the policy without a search (sums to 1), and the value after the action,
  // NaN where none was found. Empty where the player has none.
  std::vector<float> policy = {};
  std::vector<float> action_values = {};
  // The final margin, for the side to move, if it is proved for best play of
  // both.
  std::optional<int> proved_margin = {};
};

// A player's clock when it is to choose.
struct ClockReading {
  mcts::TimeControl control;
  absl::Duration left;  // of the game, or for this action
};

// A position in which a player is to choose, and the game it is of.
struct Turn {
  State state;
  // The game's own stream: whatever the player draws comes from it, so that a
  // game does not depend on those played beside it.
  Random* random = nullptr;
  // How the match of the game stood when the game began.
  mcts::MatchScore match = {};
  // Names the game among all that the player ever plays, with the actions that
  // have led to `state`: what a player needs who goes on with what it thought
  // at its last turn. No actions: nothing to go on with.
  uint64_t game = 0;
  absl::Span<const Action> actions = {};
  // With a clock: the time for this choice. It takes the place of all limits
  // that a player has of its own; players that do not search just answer.
  std::optional<mcts::MoveBudget> budget = {};
  // The clock that the budget is of, for players that share out the time
  // themselves.
  std::optional<ClockReading> clock = {};
  // With a team of two players (team.h): which of them has the first of
  // the side's seats, 0 or 1.
  int seating = 0;
  // Whether the player may go on thinking when it has chosen: its later choices
  // then depend on how long it had.
  bool may_ponder = false;
  // Filled where there is one; a forced choice leaves it as it is.
  SearchReport* report = nullptr;
  // Filled, where there is one, with why the player cannot go on with this game
  // (an engine that crashed): it gives the game up, and its action is of no
  // account. Where there is none, that is an error of the call.
  std::string* forfeit = nullptr;
  // Breaks the choice off once true; all turns of a call have the same. Null:
  // nothing does.
  const StopCheck* stop = nullptr;

  bool stopped() const { return stop != nullptr && (*stop)(); }
};

// Chooses actions; plays many games at once. Not thread-safe.
// Players are made from specs by tara/eval/players/make_player.h.
class Player {
 public:
  virtual ~Player() = default;

  // Fills actions[i] with the choice in turns[i]. Returns the error of what the
  // player thinks with (a network's backend), or CANCELLED soon after the turns
  // are stopped, where choosing takes long.
  // REQUIRES: no state is finished; the spans have one size; no two turns are
  // of one game.
  virtual absl::Status ChooseActions(absl::Span<const Turn> turns,
                                     absl::Span<Action> actions) = 0;

  // Told that a game is over, or goes on without this player: what is kept of
  // it may be forgotten.
  virtual void EndGame(uint64_t /*game*/) {}
};

// Makes one more player of a kind. Thread-safe: players are not, so that each
// thread has its own.
using PlayerFactory = std::function<absl::StatusOr<std::unique_ptr<Player>>()>;

// Plays any legal action with equal chances.
std::unique_ptr<Player> NewRandomPlayer();

// Plays an action after which its side's lead in points, were the game over,
// is largest; draws among equals.
std::unique_ptr<Player> NewGreedyPlayer();

// Plays the action with the highest prior; draws among equals. No search.
std::unique_ptr<Player> NewPolicyPlayer(
    std::shared_ptr<mcts::Evaluator> evaluator);

}  // namespace tara::eval

#endif  // TARA_EVAL_PLAYERS_PLAYER_H_
