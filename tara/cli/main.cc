// The program `tara`, without LibTorch (tara/cli/commands.h says why).

#include <cstdio>
#include <cstdlib>

#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/console.h"
#include "tara/cli/program.h"

namespace {

// Ends the program on a processor that its instructions are not for, before
// anything else is computed by them: 101 is the first constructor of a program.
[[gnu::constructor(101), gnu::target("no-avx")]] void CheckProcessor() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi2")) {
    return;
  }
  std::fputs("tara: this processor has no AVX2, which Tara is compiled for\n",
             stderr);
  std::_Exit(EXIT_FAILURE);
}

}  // namespace

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
