#ifndef TARA_CLI_POSITION_FLAGS_H_
#define TARA_CLI_POSITION_FLAGS_H_

// What commands take that look at one position: a variant or a position as
// text, and actions to play from there.

#include <string>

#include "absl/status/statusor.h"
#include "tara/cli/command_line.h"
#include "tara/cli/game_flags.h"
#include "tara/core/state.h"

namespace tara::cli {

struct PositionFlags {
  GameFlags game;
  std::string position;
  std::string actions;
};

// Adds --variant, --option, --actions and --position.
void AddPositionFlags(Command& command, PositionFlags* flags);

// Returns the position they name. Returns a usage error where they miss or
// contradict one another, INVALID_ARGUMENT for a position that is none or an
// action that is illegal.
absl::StatusOr<State> PositionOf(const PositionFlags& flags);

}  // namespace tara::cli

#endif  // TARA_CLI_POSITION_FLAGS_H_
