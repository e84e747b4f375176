#ifndef TARA_CLI_SHOW_H_
#define TARA_CLI_SHOW_H_

#include <string>

#include "absl/status/statusor.h"
#include "tara/cli/command_line.h"
#include "tara/cli/console.h"
#include "tara/cli/position_flags.h"

namespace tara::cli {

struct ShowOptions {
  PositionFlags position;
  std::string format = "text";
  std::string colour = "auto";
  bool ascii = false;
};

// Shows a position: board, seat, legal actions, and the result when the game
// is finished.
absl::StatusOr<int> RunShow(const ShowOptions& options, Console& console);

// Adds `show` to the program.
void RegisterShow(Command& root);

// Adds --ascii and --colour.
void AddDrawingFlags(Command& command, bool* ascii, std::string* colour);

}  // namespace tara::cli

#endif  // TARA_CLI_SHOW_H_
