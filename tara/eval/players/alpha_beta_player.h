#ifndef TARA_EVAL_PLAYERS_ALPHA_BETA_PLAYER_H_
#define TARA_EVAL_PLAYERS_ALPHA_BETA_PLAYER_H_

#include <memory>

#include "tara/eval/alpha_beta/alpha_beta.h"
#include "tara/eval/players/player.h"

namespace tara::eval {

// Plays the best action of an alpha-beta search with the hand-made evaluation.
// Deterministic: with limits of depth or nodes only, a position always yields
// the same action.
std::unique_ptr<Player> NewAlphaBetaPlayer(
    const AlphaBetaLimits& limits, const AlphaBetaOptions& options = {});

}  // namespace tara::eval

#endif  // TARA_EVAL_PLAYERS_ALPHA_BETA_PLAYER_H_
