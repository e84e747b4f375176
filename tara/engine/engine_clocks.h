#ifndef TARA_ENGINE_ENGINE_CLOCKS_H_
#define TARA_ENGINE_ENGINE_CLOCKS_H_

#include <array>
#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "tara/core/board.h"
#include "tara/core/state.h"
#include "tara/mcts/time/time_control.h"
#include "tara/mcts/time/time_manager.h"

namespace tara::engine {

// The clocks of both sides in a game that the engine plays, for either of them
// or both. Knows no time of day.
class EngineClocks {
 public:
  // The time of each side for the game, and more after each of its actions;
  // without the first, the second is the time for each action; without both,
  // there are no clocks. Returns INVALID_ARGUMENT for times that are none.
  absl::Status Set(double main_s, double increment_s);

  // Puts the time of a side right. Returns FAILED_PRECONDITION where there is
  // no time for the game, INVALID_ARGUMENT for a time that is none.
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

}  // namespace tara::engine

#endif  // TARA_ENGINE_ENGINE_CLOCKS_H_
