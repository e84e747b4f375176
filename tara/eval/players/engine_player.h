#ifndef TARA_EVAL_PLAYERS_ENGINE_PLAYER_H_
#define TARA_EVAL_PLAYERS_ENGINE_PLAYER_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tara/core/state.h"
#include "tara/eval/players/player.h"
#include "tara/eval/players/player_spec.h"

namespace tara::eval {

// Starts the program and returns its "name version" in printable ASCII
// characters; "\xNN" stands for any other byte. Errors describe the program's
// behaviour and contain the command.
absl::StatusOr<std::string> EngineName(const EngineSpec& spec);

// Returns a player that uses another program. The program receives each game
// from its start. Turns in the middle of a game without its actions are an
// error of the call, unless the engine has the command `set_position`; so is a
// variant that it rejects at the start. If it ends, exceeds its time limit, or
// sends a malformed answer or an illegal action, the player forfeits the game
// (Turn::forfeit), and the program is restarted for the next one. A failure to
// start it, for lack of descriptors, processes or memory or because the program
// is missing, is an error of the call. The player has no reports. Returns the
// error of starting it.
absl::StatusOr<std::unique_ptr<Player>> NewEnginePlayer(const EngineSpec& spec);

// Starts the program and begins a game from each of these start positions.
// Returns the error of starting it, or its answer; both name the engine.
absl::Status CheckEngine(const EngineSpec& spec,
                         absl::Span<const State> starts);

}  // namespace tara::eval

#endif  // TARA_EVAL_PLAYERS_ENGINE_PLAYER_H_
