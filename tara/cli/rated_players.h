#ifndef TARA_CLI_RATED_PLAYERS_H_
#define TARA_CLI_RATED_PLAYERS_H_

#include <cstdint>
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

// Adds --checkpoints, which ParseCheckpointChoice reads, and --sims.
void AddCheckpointFlags(Command& command, std::string* checkpoints,
                        int64_t* simulations);

// Which checkpoints of a run: all, those of every K-th generation and the
// newest, or those listed.
struct CheckpointChoice {
  int every = 1;
  std::vector<int> generations = {};  // not empty: these alone
};

// Parses "all", "every:K" or generations parted by commas. Returns
// INVALID_ARGUMENT for another text.
absl::StatusOr<CheckpointChoice> ParseCheckpointChoice(const std::string& text);

// Returns the players that arguments name: of a run's folder each checkpoint
// chosen, with so many simulations; a checkpoint's file; or a player spec.
// Checkpoints are named by their files, and by their runs where there are
// several. Returns NOT_FOUND for a run without the checkpoints, a usage error
// for what is neither a path nor a spec.
absl::StatusOr<std::vector<NamedPlayer>> PlayersNamed(
    absl::Span<const std::string> arguments, const CheckpointChoice& choice,
    int64_t simulations);

// Returns the players themselves; of teams, those in them.
std::vector<eval::PlayerSpec> MembersOf(absl::Span<const NamedPlayer> players);

}  // namespace tara::cli

#endif  // TARA_CLI_RATED_PLAYERS_H_
