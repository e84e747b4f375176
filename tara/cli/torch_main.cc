// The program `tara_torch`: `tara` with the commands that need LibTorch.

#include "tara/cli/arena.h"
#include "tara/cli/balance.h"
#include "tara/cli/bench_engine.h"
#include "tara/cli/bench_inference.h"
#include "tara/cli/bench_selfplay.h"
#include "tara/cli/command_line.h"
#include "tara/cli/console.h"
#include "tara/cli/crossplay.h"
#include "tara/cli/engine.h"
#include "tara/cli/export.h"
#include "tara/cli/model.h"
#include "tara/cli/play.h"
#include "tara/cli/program.h"
#include "tara/cli/rate.h"
#include "tara/cli/regret.h"
#include "tara/cli/selfplay.h"
#include "tara/cli/train.h"

int main(int argc, char** argv) {
  tara::Console console = tara::StandardConsole();
  return tara::RunProgram(argc, argv, console,
                          {.add =
                               [](tara::Command& root) {
                                 tara::RegisterPlay(root);
                                 tara::RegisterTrain(root);
                                 tara::RegisterArena(root);
                                 tara::RegisterCrossPlay(root);
                                 tara::RegisterRate(root);
                                 tara::RegisterSelfPlay(root);
                                 tara::RegisterBalance(root);
                                 tara::RegisterRegret(root);
                                 tara::RegisterEngine(root);
                                 tara::RegisterExport(root);
                                 tara::RegisterModel(root);
                               },
                           .add_to_bench =
                               [](tara::Command& bench) {
                                 tara::RegisterBenchSelfPlay(bench);
                                 tara::RegisterBenchInference(bench);
                                 tara::RegisterBenchEngine(bench);
                               }});
}
