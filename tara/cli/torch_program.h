#ifndef TARA_CLI_TORCH_PROGRAM_H_
#define TARA_CLI_TORCH_PROGRAM_H_

#include "tara/cli/console.h"

namespace tara::cli {

// Whether the arguments name a command of kTorchCommands.
bool NeedsTorch(int argc, const char* const* argv);

// Replaces this process by the program `tara_torch` beside it, with the same
// arguments. Returns only if it cannot be started: the exit status, after
// saying why.
int BecomeTorchProgram(char* const* argv, Console& console);

}  // namespace tara::cli

#endif  // TARA_CLI_TORCH_PROGRAM_H_
