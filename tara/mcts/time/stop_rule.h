#ifndef TARA_MCTS_TIME_STOP_RULE_H_
#define TARA_MCTS_TIME_STOP_RULE_H_

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "tara/base/random.h"
#include "tara/mcts/choice/choose_action.h"

namespace tara::mcts {

// Progress of the search of one position; filled by the search loop, with its
// clock.
struct SearchProgress {
  // Finished simulations through the root's actions, earlier searches included:
  // a limit of simulations counts them.
  int64_t simulations = 0;
  // The ones made since this search began; they determine the speed.
  int64_t new_simulations = 0;
  absl::Duration elapsed = absl::ZeroDuration();  // since this search began
  // Legal actions, and visits of the two most visited; see CountVisits.
  int num_actions = 0;
  int most_visits = 0;
  int second_visits = 0;
  // Another action, with at least a tenth of the visits of the most visited,
  // has a greater mean value: the choice may yet change.
  bool contested = false;
  bool root_settled = false;  // the root's value is proved
};

// Fills num_actions, most_visits, second_visits and contested.
void CountVisits(absl::Span<const RootAction> actions,
                 SearchProgress& progress);

// The limits that end a search.
struct SearchLimits {
  std::optional<int64_t> simulations = {};
  std::optional<absl::Duration> time = {};
  // The simulations that fit into the time left are taken to be this many times
  // those by the speed so far: speed varies.
  float speed_margin = 1.2f;
};

// Whether going on to the limits cannot change the action: the root is proved,
// there is but one action, or the most visited action would stay so even if all
// simulations to come went to the second. With a choice by other than visits
// (ChoiceOptions::confidence_z, Gumbel) the last is no more than likely.
bool IsSettled(const SearchProgress& progress, const SearchLimits& limits);

// Whether a search has taken its target time, after a simulation at least, or
// is settled until then; but not while it is contested: hard moves take longer.
// Source: Huang, Coulom and Lin 2010, "Time management for Monte-Carlo tree
// search applied to the game of Go", on unstable evaluations.
bool IsTargetReached(const SearchProgress& progress, absl::Duration target);

// Playout cap randomization: most turns of a self-play game get a fast search,
// so that more games are played (results are what values learn from), and some
// a full one, which the policy learns from.
// Source: Wu 2019 (arXiv:1902.10565), section 3.1.
struct PlayoutCapOptions {
  // The part of turns that get a full search; 1 turns the randomization off.
  // The paper has 0.25.
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

#endif  // TARA_MCTS_TIME_STOP_RULE_H_
