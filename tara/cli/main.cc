// The program `tara`, without LibTorch (tara/cli/commands.h says why).

#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/console.h"
#include "tara/cli/program.h"
#include "tara/cli/torch_program.h"

int main(int argc, char** argv) {
  tara::Console console = tara::StandardConsole();
  if (tara::NeedsTorch(argc, argv)) {
    return tara::BecomeTorchProgram(argv, console);
  }
  return tara::RunProgram(argc, argv, console, [](tara::Command& root) {
    // For the list of commands.
    for (const tara::CommandName& command : tara::kTorchCommands) {
      root.AddCommand(command.name, command.summary);
    }
  });
}
