#ifndef TARA_CLI_RATED_PLAYERS_H_
#define TARA_CLI_RATED_PLAYERS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tara/cli/command_line.h"
#include "tara/eval/players/player_spec.h"
#include "tara/eval/players/team.h"
#include "tara/eval/report/report_page.h"

namespace tara::cli {

// A player as the command line names it.
struct NamedPlayer {
  std::string name;  // for people
  eval::TeamSpec team;
  std::optional<eval::TrainingPoint> point = {};  // of a run's checkpoints
};

struct CheckpointFlags {
  // Of a run: "all", every K-th generation and the newest ("every:K"), or the
  // listed generations ("0,10,20").
  std::string checkpoints = "all";
  int simulations = 0;  // an action; 0: the policy
};

// Adds --checkpoints and --sims.
void AddCheckpointFlags(Command& command, CheckpointFlags* flags);

// Returns the players of the arguments: for a run's folder each chosen
// checkpoint, with `simulations`; for a checkpoint its file; or a player spec.
// Checkpoints are named by their files, and by their runs if there are several.
// Returns NOT_FOUND for a run without the checkpoints, and a usage error for
// invalid flags or arguments.
absl::StatusOr<std::vector<NamedPlayer>> PlayersNamed(
    absl::Span<const std::string> arguments, const CheckpointFlags& flags);

// Returns the players themselves; of teams, those in them.
std::vector<eval::PlayerSpec> MembersOf(absl::Span<const NamedPlayer> players);

}  // namespace tara::cli

#endif  // TARA_CLI_RATED_PLAYERS_H_
