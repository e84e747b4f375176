// The program `tara`, without LibTorch (tara/cli/commands.h says why).

#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/console.h"
#include "tara/cli/program.h"

int main(int argc, char** argv) {
  tara::cli::Console console = tara::cli::StandardConsole();
  if (tara::cli::NeedsTorch(argc, argv)) {
    return tara::cli::BecomeTorchProgram(argv, console);
  }
  // For the lists of commands.
  return tara::cli::RunProgram(
      argc, argv, console,
      {.add =
           [](tara::cli::Command& root) {
             for (const auto& command : tara::cli::kTorchCommands) {
               root.AddCommand(command.name, command.summary);
             }
           },
       .add_to_bench =
           [](tara::cli::Command& bench) {
             for (const auto& command : tara::cli::kTorchBenchCommands) {
               bench.AddCommand(command.name, command.summary);
             }
           }});
}
