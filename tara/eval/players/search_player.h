#ifndef TARA_EVAL_PLAYERS_SEARCH_PLAYER_H_
#define TARA_EVAL_PLAYERS_SEARCH_PLAYER_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/time/time.h"
#include "tara/base/clocks.h"
#include "tara/eval/alpha_beta/alpha_beta.h"
#include "tara/eval/players/player.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/options/search_options.h"

namespace tara::eval {

struct SearchPlayerOptions {
  // With UtilityKind::kMatch the player plays for the match, with its score and
  // the variant's margin deviation in place of those in search.utility. The
  // player has its own solver, for at most search.solver_vacant_hills and at
  // most SolvableVacantHills of the variant.
  mcts::SearchOptions search = {};
  // Thinking time per action, in place of search.simulations; zero: none. The
  // search ends earlier if nothing can change the choice. The positions of a
  // call are searched together and share the sum of their times.
  absl::Duration time = absl::ZeroDuration();
  // Maximum number of leaves of one tree in a batch (many_games.h).
  int leaves_per_game = 1;
  // Threads that search a position together (search_session.h) in calls with
  // one position. With more than one, the search is not reproducible. REQUIRES:
  // 1 with search.gumbel.
  int threads = 1;
  // Whether to reuse the subtree of the last turn of a game. Kept simulations
  // count among search.simulations, which saves time; with `time` they add to
  // the simulations.
  bool reuse = false;
  // Whether to search during the opponent's turn, on `threads` additional
  // threads, if a turn allows it (Turn::may_ponder). REQUIRES: reuse; not
  // search.gumbel.
  bool ponder = false;
  // Maximum number of simulations of a tree while pondering; some 500 bytes
  // each.
  int ponder_simulations = 1 << 21;
  // 0: play the most visited action. Above 0: play the one with the highest
  // lower confidence bound (ChoiceOptions::confidence_z).
  float confidence_z = 0;
  // Above 0: draw actions by their visits; higher values are more random
  // (ChoiceOptions::temperature).
  float temperature = 0;
  // Above 0, in place of both: play the action with the highest immediate score
  // among those whose value is at most this much below the best
  // (ChooseWithinMargin in levels.h).
  float value_margin = 0;
  // Cached evaluations over all games; some 300 bytes each. At least 1.
  int64_t cache_positions = int64_t{1} << 16;
  // The clocks of Turn::budget and of `time`. Thread-safe.
  std::function<absl::Time()> now = SteadyTime;
  std::function<absl::Time()> time_clock = SteadyTime;
};

// Plays the best action after a search without noise. The positions of a call
// are searched in one batch. With a clock (Turn::budget), its time replaces
// simulations and time: the target, or up to the limit while another action may
// turn out better. Players may share an evaluator.
std::unique_ptr<Player> NewSearchPlayer(
    std::shared_ptr<mcts::Evaluator> evaluator,
    const SearchPlayerOptions& options);

// Plays the best action of an alpha-beta search with the hand-made evaluation.
// Deterministic: with limits of depth or nodes only, a position always yields
// the same action.
std::unique_ptr<Player> NewAlphaBetaPlayer(
    const AlphaBetaLimits& limits, const AlphaBetaOptions& options = {});

}  // namespace tara::eval

#endif  // TARA_EVAL_PLAYERS_SEARCH_PLAYER_H_
