#ifndef TARA_MCTS_TIME_TIME_MANAGER_H_
#define TARA_MCTS_TIME_TIME_MANAGER_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "tara/base/random.h"
#include "tara/core/state.h"
#include "tara/mcts/choice/choose_action.h"

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
};

// The time for the search of one move.
struct MoveBudget {
  absl::Duration target;  // to be spent on an ordinary move
  absl::Duration limit;   // never to be exceeded
};

// Shares out a player's time over its moves of a game. Callers report the time
// of each move. A player that exceeds the limits by at most `overhead`
// oversteps its time only if that uses up the reserve. Of the time for a game,
// with `left` of it left and m moves to come (at least 3: games may last longer
// than expected), a move's share is
//   (left - reserve + (m - 1) * increment) / m - overhead,
// and its limit 3 times that, for hard moves, but at most half of the time left
// without reserve and overhead. Not thread-safe.
class TimeManager {
 public:
  // REQUIRES: the control is ParseTimeControl's; no option is negative.
  TimeManager(const TimeControl& control, const TimeOptions& options);

  // Returns the time for a move when the player expects `own_moves_left` moves
  // of its own, this one included: half of ExpectedActionsLeft.
  MoveBudget BudgetFor(float own_moves_left) const;

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

// A search of one position under way.
struct SearchProgress {
  absl::Span<const RootAction> actions;  // legal at the root
  bool root_settled = false;             // the root's value is proved
  // Made by this search, not kept from earlier ones; they determine its speed.
  int simulations = 0;
  absl::Duration elapsed = absl::ZeroDuration();
};

// Whether going on to a limit of time cannot change the action: the root is
// proved, there is but one action, or the most visited action would stay so
// even if all simulations to come went to the second. With a choice by other
// than visits (ChoiceOptions::confidence_z, Gumbel) the last is no more than
// likely. REQUIRES: simulations > 0.
bool IsSettled(const SearchProgress& progress, absl::Duration limit);

// Whether a search has taken its target time or is settled until then; but not
// while it is contested: while another action, with at least a tenth of the
// visits of the most visited, has a greater mean value, so that the choice may
// yet change.
// Source: Huang, Coulom and Lin 2010, "Time management for Monte-Carlo tree
// search applied to the game of Go", on unstable evaluations.
bool IsTargetReached(const SearchProgress& progress, absl::Duration target);

// Playout cap randomization: most turns of a self-play game get a fast search,
// so that more games are played, and some a full one for the policy.
// Source: Wu 2019 (arXiv:1902.10565), section 3.1.
struct PlayoutCapOptions {
  // The part of turns that get a full search: all by 1; the paper has 0.25.
  float full_share = 1;
  // Simulations of a search; the paper has 600 and 100.
  int full_simulations = 100;
  int fast_simulations = 20;
};

// The search of one turn.
struct TurnSearch {
  int simulations = 0;
  // A full search explores (root noise, forced playouts) and is a policy
  // target. A fast one is for playing: no noise, and no target from it.
  bool full = true;
};

// Draws the search of a turn from the game's stream; draws nothing when
// full_share is 1 or more.
// REQUIRES: full_share >= 0; a search has at least one simulation.
TurnSearch DrawTurnSearch(const PlayoutCapOptions& options, Random& random);

}  // namespace tara::mcts

#endif  // TARA_MCTS_TIME_TIME_MANAGER_H_
