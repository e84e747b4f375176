#ifndef TARA_MCTS_TIME_TIME_MANAGER_H_
#define TARA_MCTS_TIME_TIME_MANAGER_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tara/core/state.h"

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

// Returns about how many actions, of all seats, a game lasts from a position
// on; a player's time is divided by it. At least 1; 0 if finished. The average
// over random games is right within a few actions; strong play, which also
// fills the board, is similar. O(1).
float ExpectedActionsLeft(const State& state);

struct TimeOptions {
  // Time of a move beyond its search: the last batch, a protocol's way.
  absl::Duration overhead = absl::Milliseconds(20);
  // Time never planned with, for delays beyond `overhead`; but no more than a
  // tenth of the time for the game.
  absl::Duration reserve = absl::Seconds(1);
  // A player's last moves of a game that need no time, because the endgame
  // solver answers at once. Their time goes to the moves before.
  float free_moves = 0;
  // Minimum number of moves to reserve time for: games may last longer than
  // expected.
  float least_moves = 3;
  // A move may take this many times its share where it is hard, never more.
  float most_shares = 3;
  // A player's moves of plies before `opening_plies` get this part of their
  // share: openings differ little, and the time comes back later.
  int opening_plies = 0;
  float opening_part = 0.5f;
};

// The time for the search of one move.
struct MoveBudget {
  absl::Duration target;  // to be spent on an ordinary move
  absl::Duration limit;   // never to be exceeded
};

// Shares out a player's time over its moves of a game. Has no clock: callers
// report the time of each move. A player that exceeds the limits by at most
// `overhead` oversteps its time only if a game lasts so long that the overhead
// uses up the reserve.
//
// Of the time for a game, with `left` of it left and m moves to come (least
// and free moves considered), a move's share is
//   (left - reserve + (m - 1) * increment) / m - overhead,
// and its limit most_shares times that, but at most half of the time left
// without reserve and overhead. Not thread-safe.
class TimeManager {
 public:
  // REQUIRES: the control is one that ParseTimeControl returns; least_moves
  // and most_shares are at least 1; nothing is negative.
  TimeManager(const TimeControl& control, const TimeOptions& options);

  // Returns the time for the move of a ply (counted from 0, all seats) when the
  // player expects `own_moves_left` moves of its own, this one included: half
  // of ExpectedActionsLeft.
  MoveBudget BudgetFor(int ply, float own_moves_left) const;

  // Takes the time that a move took in all, and adds the increment.
  void Spend(absl::Duration time);

  // Time left of the game, the increment of the last move included; infinite
  // when time is by the move.
  absl::Duration left() const { return left_; }
  // Corrects the time left by another clock.
  void set_left(absl::Duration left) { left_ = left; }
  // Whether a move has ever taken more than there was.
  bool overstepped() const { return overstepped_; }

 private:
  TimeControl control_;
  TimeOptions options_;
  absl::Duration left_;
  bool overstepped_ = false;
};

}  // namespace tara::mcts

#endif  // TARA_MCTS_TIME_TIME_MANAGER_H_
