// The program `tara_torch`: `tara` with the commands that need LibTorch.

#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/console.h"
#include "tara/cli/program.h"

int main(int argc, char** argv) {
  tara::cli::Console console = tara::cli::StandardConsole();
  return tara::cli::RunProgram(argc, argv, console,
                               {.add =
                                    [](tara::cli::Command& root) {
                                      tara::cli::RegisterPlay(root);
                                      tara::cli::RegisterTrain(root);
                                      tara::cli::RegisterArena(root);
                                      tara::cli::RegisterCrossPlay(root);
                                      tara::cli::RegisterRate(root);
                                      tara::cli::RegisterSelfPlay(root);
                                      tara::cli::RegisterBalance(root);
                                      tara::cli::RegisterRegret(root);
                                      tara::cli::RegisterEngine(root);
                                      tara::cli::RegisterExport(root);
                                      tara::cli::RegisterModel(root);
                                      tara::cli::RegisterConvert(root);
                                    },
                                .add_to_bench =
                                    [](tara::cli::Command& bench) {
                                      tara::cli::RegisterBenchSelfPlay(bench);
                                      tara::cli::RegisterBenchInference(bench);
                                      tara::cli::RegisterBenchEngine(bench);
                                    }});
}
