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
  // For the lists of commands.
  return tara::RunProgram(
      argc, argv, console,
      {.add =
           [](tara::Command& root) {
             for (const auto& command : tara::kTorchCommands) {
               root.AddCommand(command.name, command.summary);
             }
           },
       .add_to_bench =
           [](tara::Command& bench) {
             for (const auto& command : tara::kTorchBenchCommands) {
               bench.AddCommand(command.name, command.summary);
             }
           }});
}
