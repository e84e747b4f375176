#ifndef TARA_EVAL_PLAYERS_SEARCH_PLAYER_H_
#define TARA_EVAL_PLAYERS_SEARCH_PLAYER_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/time/time.h"
#include "tara/base/clocks.h"
#include "tara/eval/players/player.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/options/search_options.h"

namespace tara::eval {

struct SearchPlayerOptions {
  // With UtilityKind::kMatch the player plays for the match: its score and the
  // variant's margin deviation take the place of those in search.utility.
  // The player brings its own solver for search.solver_vacant_hills, and uses
  // it for no more of them than SolvableVacantHills says of the variant.
  mcts::SearchOptions search = {};
  // Thinking time an action, in place of search.simulations; zero: none. It
  // ends earlier where nothing can change the choice any more. Positions of a
  // call are searched together, and share the sum of their times.
  absl::Duration time = absl::ZeroDuration();
  // Leaves of one tree in one batch, at most (many_games.h).
  int leaves_per_game = 1;
  // Threads that search a position together (search_session.h), where a call
  // has but one. More than one: the search is not the same every time.
  // REQUIRES: 1 with search.gumbel.
  int threads = 1;
  // Go on with the subtree of the last turn of a game. Kept simulations count
  // among search.simulations: it saves time, or with `time` gains simulations.
  bool reuse = false;
  // Think on while the opponent does, on `threads` threads beside those that
  // choose, where a turn allows it (Turn::may_ponder). REQUIRES: reuse; not
  // search.gumbel.
  bool ponder = false;
  // Simulations of a tree that is pondered on, at most: some 500 bytes each.
  int ponder_simulations = 1 << 21;
  // 0 plays the most visited action; above, the one with the highest lower
  // confidence bound (ChoiceOptions::confidence_z).
  float confidence_z = 0;
  // Above 0 actions are drawn by their visits, the more freely the higher
  // (ChoiceOptions::temperature).
  float temperature = 0;
  // Above 0, in place of both: the action that scores most at once, of those
  // with a value so little below the best (ChooseWithinMargin in levels.h).
  float value_margin = 0;
  // Evaluations remembered over all games; some 300 bytes each. At least 1.
  int64_t cache_positions = int64_t{1} << 16;
  // The clock of Turn::budget, and that of `time`. Thread-safe.
  std::function<absl::Time()> now = SteadyTime;
  std::function<absl::Time()> time_clock = SteadyTime;
};

// Plays the best action after a search without noise. All positions of a call
// are searched in one batch. With a clock (Turn::budget), the time it allows
// takes the place of simulations and time: the target, or where another action
// may yet turn out better, up to the limit. Players may share an evaluator.
std::unique_ptr<Player> NewSearchPlayer(
    std::shared_ptr<mcts::Evaluator> evaluator,
    const SearchPlayerOptions& options);

}  // namespace tara::eval

#endif  // TARA_EVAL_PLAYERS_SEARCH_PLAYER_H_
