#ifndef TARA_CLI_PROGRAM_H_
#define TARA_CLI_PROGRAM_H_

#include <functional>

#include "tara/cli/command_line.h"
#include "tara/cli/console.h"

namespace tara {

// The whole program: parses the arguments, runs the subcommand they name, and
// returns the exit status. `add_commands` adds those that come before the ones
// of every program.
int RunProgram(int argc, const char* const* argv, Console& console,
               const std::function<void(Command& root)>& add_commands);

}  // namespace tara

#endif  // TARA_CLI_PROGRAM_H_
