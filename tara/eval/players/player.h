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

// The findings of a player about a position in which it chooses; fields may be
// absent. Values are for the side to move, win minus loss, in [-1, 1].
struct SearchReport {
  std::optional<float> value = {};
  // By legal action, in the order of LegalSet::ForEach: the share of visits, or
  // of the policy without a search (sums to 1), and the value after the action,
  // NaN if unknown. Empty if the player has none.
  std::vector<float> policy = {};
  std::vector<float> action_values = {};
  // The final margin for the side to move, if it is proved for best play by
  // both sides.
  std::optional<int> proved_margin = {};
};

// A player's clock at the time of a choice.
struct ClockReading {
  mcts::TimeControl control;
  absl::Duration left;  // of the game, or for this action
};

// A position in which a player chooses, with its game.
struct Turn {
  State state;
  // The random stream of the game, the player's only source of randomness, so
  // that a game does not depend on concurrent ones.
  Random* random = nullptr;
  // The score of the match when the game began.
  mcts::MatchScore match = {};
  // A number that is unique among all games of the player, and the actions that
  // led to `state`. Players that reuse the search of their last turn need them.
  // No actions: nothing to reuse.
  uint64_t game = 0;
  absl::Span<const Action> actions = {};
  // With a clock: the time for this choice. It replaces all limits of the
  // player. Players without a search ignore it.
  std::optional<mcts::MoveBudget> budget = {};
  // The clock of the budget, for players that manage time themselves.
  std::optional<ClockReading> clock = {};
  // With a team of two players: the player with the first of the
  // side's seats, 0 or 1.
  int seating = 0;
  // Whether the player may continue to think after its choice. Its later
  // choices then depend on the time it had.
  bool may_ponder = false;
  // Filled unless null; a forced choice leaves it unchanged.
  SearchReport* report = nullptr;
  // Filled, unless null, with the reason why the player cannot continue this
  // game (an engine that crashed). It then forfeits the game, and its action is
  // ignored. If null, this is an error of the call.
  std::string* forfeit = nullptr;
  // Interrupts the choice once it returns true; the same in all turns of a
  // call. Null: never.
  const StopCheck* stop = nullptr;

  bool stopped() const { return stop != nullptr && (*stop)(); }
};

// Chooses actions in many games at once. Not thread-safe.
// tara/eval/players/make_player.h makes players from specs.
class Player {
 public:
  virtual ~Player() = default;

  // Fills actions[i] with the choice in turns[i]. Returns the error of the
  // player's backend (of a network), or CANCELLED soon after the turns are
  // stopped, if choosing takes long. REQUIRES: no state is finished; the spans
  // have equal sizes; no two turns are of one game.
  virtual absl::Status ChooseActions(absl::Span<const Turn> turns,
                                     absl::Span<Action> actions) = 0;

  // Called when a game is over or continues without this player, which may then
  // free its memory of the game.
  virtual void EndGame(uint64_t /*game*/) {}
};

// Makes a player. Thread-safe; players are not, so each thread has its own.
using PlayerFactory = std::function<absl::StatusOr<std::unique_ptr<Player>>()>;

// Plays a uniformly random legal action.
std::unique_ptr<Player> NewRandomPlayer();

// Plays an action that maximizes its side's lead in points if the game ended
// after it; random among equals.
std::unique_ptr<Player> NewGreedyPlayer();

// Plays the action with the highest prior; random among equals. No search.
std::unique_ptr<Player> NewPolicyPlayer(
    std::shared_ptr<mcts::Evaluator> evaluator);

}  // namespace tara::eval

#endif  // TARA_EVAL_PLAYERS_PLAYER_H_
