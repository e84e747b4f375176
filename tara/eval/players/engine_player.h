#ifndef TARA_EVAL_PLAYERS_ENGINE_PLAYER_H_
#define TARA_EVAL_PLAYERS_ENGINE_PLAYER_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tara/core/state.h"
#include "tara/eval/players/engine_spec.h"
#include "tara/eval/players/player.h"

namespace tara::eval {

// Returns a player that asks another program (engine_session.h). It tells it
// the games from their start; turns in the middle of a game whose actions are
// not given are an error of the call, unless it has the command `set_position`;
// so is a variant that it refuses to play from the first. If it ends, does not
// answer in time, answers what is no answer or an action that is not legal, it
// gives the game up (Turn::forfeit); it is started again for the next. Has no
// opinions. Returns the error of starting it.
absl::StatusOr<std::unique_ptr<Player>> NewEnginePlayer(const EngineSpec& spec);

// Starts the program and has it begin a game from each of these positions,
// which are those at the start of games. Returns the error of starting it, or
// what it answered; both name it.
absl::Status CheckEngine(const EngineSpec& spec,
                         absl::Span<const State> starts);

}  // namespace tara::eval

#endif  // TARA_EVAL_PLAYERS_ENGINE_PLAYER_H_
