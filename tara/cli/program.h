#ifndef TARA_CLI_PROGRAM_H_
#define TARA_CLI_PROGRAM_H_

#include "tara/cli/console.h"

namespace tara {

// The whole program: parses the arguments, runs the subcommand they name, and
// returns the exit status.
int RunProgram(int argc, const char* const* argv, Console& console);

}  // namespace tara

#endif  // TARA_CLI_PROGRAM_H_
