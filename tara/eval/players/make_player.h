#ifndef TARA_EVAL_PLAYERS_MAKE_PLAYER_H_
#define TARA_EVAL_PLAYERS_MAKE_PLAYER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tara/eval/players/player.h"

namespace tara {

// Makes a player from a spec (tara/eval/players/player_spec.h, PlayerSpecHelp).
// Returns INVALID_ARGUMENT naming what is wrong with the spec and what was
// expected, NOT_FOUND for a run without a checkpoint, or the error of loading
// the network.
absl::StatusOr<std::unique_ptr<Player>> MakePlayer(absl::string_view spec);

// Makes the player or players of a team (team_spec.h), as one Player.
// Errors as MakePlayer, and those of ParseTeamSpec.
absl::StatusOr<std::unique_ptr<Player>> MakeTeam(absl::string_view spec);

// Returns the checkpoint file that a path of a spec means: the file itself,
// or the newest checkpoint of a run's folder or of its `checkpoints` folder,
// as named by the file `latest` there. An empty path, or `best`, means the
// ready-made model (tara/eval/players/ready_made_model.h).
// Returns NOT_FOUND or DATA_LOSS naming the file that is missing or damaged.
absl::StatusOr<std::string> FindCheckpoint(const std::string& path);

}  // namespace tara

#endif  // TARA_EVAL_PLAYERS_MAKE_PLAYER_H_
