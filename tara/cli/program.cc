#include "tara/cli/program.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <functional>
#include <ostream>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tara/base/version.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"

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
      absl::StrCat("tara ", kVersion));
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

namespace {

bool IsIn(absl::Span<const CommandName> commands, absl::string_view name) {
  return std::any_of(
      commands.begin(), commands.end(),
      [&](const CommandName& command) { return command.name == name; });
}

}  // namespace

bool NeedsTorch(int argc, const char* const* argv) {
  std::vector<absl::string_view> words;  // without options, such as --help
  for (int i = 1; i < argc; ++i) {
    if (argv[i][0] != '-') words.push_back(argv[i]);
  }
  if (words.empty()) return false;
  if (IsIn(kTorchCommands, words[0])) return true;
  return words.size() > 1 && words[0] == "bench" &&
         IsIn(kTorchBenchCommands, words[1]);
}

int BecomeTorchProgram(char* const* argv, Console& console) {
  // OpenMP reads these when it is loaded, so they are set here. By default its
  // threads spin for milliseconds while they wait, and take the time of those
  // that work: a step of learning took up to ten times as long on a busy
  // machine. Asleep at once, they are woken too late, hundreds of times a step,
  // which then takes a third longer. So they spin for some 0.1 ms.
  setenv("OMP_WAIT_POLICY", "PASSIVE", /*overwrite=*/0);
  setenv("GOMP_SPINCOUNT", "5000", /*overwrite=*/0);
  // Memory in pages of 2 MB where the kernel gives them to those who ask: the
  // learner's tensors lie in thousands of the usual ones, more than a processor
  // remembers the places of. Read when the program starts.
  setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1", /*overwrite=*/0);
  std::error_code ignored;
  const std::string path =
      std::filesystem::read_symlink("/proc/self/exe", ignored).string() +
      "_torch";
  execv(path.c_str(), argv);
  console.err << "tara: cannot start " << path << ", which `tara " << argv[1]
              << "` needs: " << std::strerror(errno) << "\n";
  return kExitFailure;
}

}  // namespace tara::cli
