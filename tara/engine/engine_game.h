#ifndef TARA_ENGINE_ENGINE_GAME_H_
#define TARA_ENGINE_ENGINE_GAME_H_

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/state.h"
#include "tara/mcts/time/time_manager.h"

namespace tara::engine {

// The clocks of both sides in a game that the engine plays, for either of them
// or both. Knows no time of day.
class EngineClocks {
 public:
  // The time of each side for the game, and the increment per action; without
  // the first, the second is the time per action; if both are 0, clocks are
  // off. Returns INVALID_ARGUMENT for invalid times.
  absl::Status Set(double main_s, double increment_s);

  // Sets the remaining time of a side. Returns FAILED_PRECONDITION without a
  // time for the game, INVALID_ARGUMENT for an invalid time.
  absl::Status SetLeft(Side side, double left_s);

  // Winds the clocks up for a new game.
  void Restart();

  // Returns the time for the next choice in a position after `ply` actions;
  // nothing without clocks.
  std::optional<mcts::MoveBudget> BudgetFor(const State& state, int ply) const;
  // Takes the time of a choice off the clock of a side.
  void Spend(Side side, absl::Duration time);

 private:
  std::optional<mcts::TimeControl> control_;
  std::array<std::optional<mcts::TimeManager>, 2> managers_;  // by side
};

// A game of a client of the engine: a start and the actions played.
class EngineGame {
 public:
  explicit EngineGame(const State& start) : states_({start}) {}

  const State& start() const { return states_.front(); }
  const State& state() const { return states_.back(); }
  absl::Span<const Action> actions() const { return actions_; }

  // Plays an action given in notation. Returns INVALID_ARGUMENT for a malformed
  // or illegal action and leaves the game unchanged.
  absl::Status Play(absl::string_view text);
  // REQUIRES: the action is legal.
  void Play(Action action);

  // Undoes the last action; returns false without one.
  bool Undo();

 private:
  std::vector<State> states_;  // the start, then one after each action
  std::vector<Action> actions_;
};

// Returns the result of a finished game in words: "points 3,0 kingdoms 2,3
// territory 24,21 bridges 30,28 kings_captured 0,0 ended_by out".
std::string ResultText(const State& state);

}  // namespace tara::engine

#endif  // TARA_ENGINE_ENGINE_GAME_H_
