#ifndef TARA_ENGINE_ENGINE_GAME_H_
#define TARA_ENGINE_ENGINE_GAME_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tara/core/action.h"
#include "tara/core/state.h"

namespace tara::engine {

// A game as a client of the engine leads it: a start and what was played.
class EngineGame {
 public:
  explicit EngineGame(const State& start) : states_({start}) {}

  const State& start() const { return states_.front(); }
  const State& state() const { return states_.back(); }
  absl::Span<const Action> actions() const { return actions_; }

  // Plays an action given in notation. Returns INVALID_ARGUMENT for what is no
  // action, or illegal; the game is then as before.
  absl::Status Play(absl::string_view text);
  // REQUIRES: the action is legal.
  void Play(Action action);

  // Takes the last action back; returns false if there is none.
  bool Undo();

 private:
  std::vector<State> states_;  // the start, then one after each action
  std::vector<Action> actions_;
};

// Returns the legal actions in notation, sorted as text by code point.
std::vector<std::string> LegalActionNotation(const State& state);

// Returns the result of a finished game in words: "points 3,0 kingdoms 2,3
// territory 24,21 bridges 30,28 kings_captured 0,0 ended_by out".
std::string ResultText(const State& state);

}  // namespace tara::engine

#endif  // TARA_ENGINE_ENGINE_GAME_H_
