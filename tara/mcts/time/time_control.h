#ifndef TARA_MCTS_TIME_TIME_CONTROL_H_
#define TARA_MCTS_TIME_TIME_CONTROL_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace tara::mcts {

// The time a player has: so much for each move, or so much for all its moves
// of a game and some more after each of them. A value type.
struct TimeControl {
  absl::Duration per_move = absl::ZeroDuration();   // zero: by the game
  absl::Duration per_game = absl::ZeroDuration();   // zero: by the move
  absl::Duration increment = absl::ZeroDuration();  // after each move of a game

  bool is_per_move() const { return per_move > absl::ZeroDuration(); }

  friend bool operator==(const TimeControl&, const TimeControl&) = default;
};

// Parses "5s/move", "300s" or "300s+2s" (for the game, plus an increment).
// Times are numbers with a unit (ms, s, m, h), or several of them: "1m30s".
// Returns INVALID_ARGUMENT, naming the text, the offending part and what was
// expected; times are positive (an increment may be 0s) and at most 100 h.
absl::StatusOr<TimeControl> ParseTimeControl(absl::string_view text);

// Returns a text that ParseTimeControl reads back.
std::string TimeControlText(const TimeControl& control);

}  // namespace tara::mcts

#endif  // TARA_MCTS_TIME_TIME_CONTROL_H_
