#ifndef TARA_EVAL_ARENA_OPENING_JUDGE_H_
#define TARA_EVAL_ARENA_OPENING_JUDGE_H_

#include <memory>

#include "tara/eval/arena/arena_openings.h"
#include "tara/eval/players/player.h"

namespace tara::eval {

// Returns a judge that asks a player for the value of positions. It returns
// FAILED_PRECONDITION where the player has none to say (random and greedy
// players). One position at a time: not thread-safe.
OpeningJudge NewOpeningJudge(std::unique_ptr<Player> player);

}  // namespace tara::eval

#endif  // TARA_EVAL_ARENA_OPENING_JUDGE_H_
