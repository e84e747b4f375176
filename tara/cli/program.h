#ifndef TARA_CLI_PROGRAM_H_
#define TARA_CLI_PROGRAM_H_

#include <functional>

#include "tara/cli/command_line.h"
#include "tara/cli/console.h"

namespace tara::cli {

// Commands beside those of every program.
struct ProgramCommands {
  // Adds those that come before the others.
  std::function<void(Command& root)> add;
  // Adds to the command `bench`.
  std::function<void(Command& bench)> add_to_bench;
};

// The whole program: parses the arguments, runs the subcommand they name, and
// returns the exit status.
int RunProgram(int argc, const char* const* argv, Console& console,
               const ProgramCommands& commands);

// Whether the arguments name a command of kTorchCommands.
bool NeedsTorch(int argc, const char* const* argv);

// Replaces this process by the program `tara_torch` beside it, with the same
// arguments. Returns only if it cannot be started: the exit status, after
// saying why.
int BecomeTorchProgram(char* const* argv, Console& console);

}  // namespace tara::cli

#endif  // TARA_CLI_PROGRAM_H_
