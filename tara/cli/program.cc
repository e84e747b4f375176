#include "tara/cli/program.h"

#include <csignal>
#include <exception>
#include <functional>

#include "tara/cli/bench.h"
#include "tara/cli/command_line.h"
#include "tara/cli/games.h"
#include "tara/cli/perft.h"
#include "tara/cli/show.h"
#include "tara/cli/solve.h"
#include "tara/cli/stats.h"
#include "tara/cli/usage.h"
#include "tara/cli/variants.h"
#include "tara/cli/verify.h"
#include "tara/cli/version.h"
#include "tara/cli/web.h"

namespace tara::cli {
namespace {

// Returns the command `bench`.
Command& RegisterCommands(Command& root) {
  RegisterGames(root);
  RegisterShow(root);
  RegisterSolve(root);
  RegisterVariants(root);
  RegisterVerify(root);
  RegisterPerft(root);
  RegisterStats(root);
  RegisterWeb(root);
  Command& bench = RegisterBench(root);
  root.SetExamples({"show --variant sacred_hill_l1",
                    "play --variant high_kings_l1 --opponent mcts:sims=1000",
                    "train configs/quickstart.textproto",
                    "stats --variant all --games 1M --html stats.html",
                    "arena --variant four_treasures greedy mcts:sims=200",
                    "COMMAND --help"});
  return bench;
}

}  // namespace

int RunProgram(int argc, const char* const* argv, Console& console,
               const ProgramCommands& commands) {
  // A reader that has seen enough (`tara ... | head`) ends us without a word,
  // even where the parent process ignored the signal.
  std::signal(SIGPIPE, SIG_DFL);
  CommandLine command_line(
      "play, verify, learn and compare ten variants of the board game Tara",
      kVersion);
  commands.add(command_line.root());
  commands.add_to_bench(RegisterCommands(command_line.root()));
  int status = kExitFailure;
  try {
    status = command_line.Run(argc, argv, console);
  } catch (const std::exception& error) {
    // Out of memory, or a bug: whatever it is, without a stack trace.
    console.err << "tara: unexpected error: " << error.what() << "\n";
    return kExitFailure;
  }
  console.out.flush();
  if (!console.out && status == kExitOk) {
    console.err << "tara: cannot write the output\n";
    return kExitFailure;
  }
  return status;
}

}  // namespace tara::cli
