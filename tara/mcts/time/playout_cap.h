#ifndef TARA_MCTS_TIME_PLAYOUT_CAP_H_
#define TARA_MCTS_TIME_PLAYOUT_CAP_H_

#include "tara/base/random.h"

namespace tara::mcts {

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

#endif  // TARA_MCTS_TIME_PLAYOUT_CAP_H_
