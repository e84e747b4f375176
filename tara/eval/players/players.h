#ifndef TARA_EVAL_PLAYERS_PLAYERS_H_
#define TARA_EVAL_PLAYERS_PLAYERS_H_

#include <memory>

#include "tara/eval/players/player.h"
#include "tara/mcts/evaluator.h"

namespace tara::eval {

// Plays any legal action with equal chances.
std::unique_ptr<Player> NewRandomPlayer();

// Plays an action after which its side's lead in points, were the game over,
// is largest; draws among equals.
std::unique_ptr<Player> NewGreedyPlayer();

// Plays the action with the highest prior; draws among equals. No search.
std::unique_ptr<Player> NewPolicyPlayer(
    std::unique_ptr<mcts::Evaluator> evaluator);

}  // namespace tara::eval

#endif  // TARA_EVAL_PLAYERS_PLAYERS_H_
