// The programs `tara` and, with TARA_WITH_TORCH, `tara_torch`: commands.h
// states why there are two.

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <initializer_list>
#include <new>
#include <ostream>
#include <string>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "tara/base/text.h"
#include "tara/base/threads.h"
#include "tara/base/version.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/core/instruction_set.h"

namespace tara::cli {
namespace {

#ifdef TARA_WITH_TORCH
constexpr bool kWithTorch = true;
#else
constexpr bool kWithTorch = false;
#endif

#if defined(__x86_64__)
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
#endif

// Adds a command that needs LibTorch; without it only the name, for the lists
// of commands.
template <typename Add>
void AddOrName(Command& outer, const CommandName& command, const Add& add) {
  if constexpr (kWithTorch) {
    add(outer);
  } else {
    outer.AddCommand(command.name, command.summary);
  }
}

void AddCommands(Command& root) {
  RegisterPlay(root);
  AddOrName(root, kTrainCommand, [](auto& outer) { RegisterTrain(outer); });
  for (const auto add : {RegisterArena, RegisterCrossPlay, RegisterRate,
                         RegisterSelfPlay, RegisterBalance, RegisterPuzzles,
                         RegisterReview, RegisterExplore, RegisterEngine}) {
    add(root);
  }
  AddOrName(root, kExportCommand, [](auto& outer) { RegisterExport(outer); });
  for (const auto add :
       {RegisterModel, RegisterGames, RegisterShow, RegisterSolve,
        RegisterLevels, RegisterVariants, RegisterVerify, RegisterPerft,
        RegisterStats, RegisterWeb}) {
    add(root);
  }
  AddOrName(root, kFleetWorkerCommand,
            [](auto& outer) { RegisterFleetWorker(outer); });
  Command& bench = RegisterBench(root);
  AddOrName(bench, kBenchSelfPlayCommand,
            [](auto& outer) { RegisterBenchSelfPlay(outer); });
  AddOrName(bench, kBenchInferenceCommand,
            [](auto& outer) { RegisterBenchInference(outer); });
  AddOrName(bench, kBenchLearnerCommand,
            [](auto& outer) { RegisterBenchLearner(outer); });
  root.SetExamples({"show --variant sacred_hill_l1",
                    "play --variant high_kings_l1 --opponent mcts:sims=1000",
                    "train configs/quickstart.textproto",
                    "stats --variant all --games 1M --html stats.html",
                    "arena --variant four_treasures greedy mcts:sims=200",
                    "COMMAND --help"});
}

std::string Words(int argc, const char* const* argv) {
  std::vector<absl::string_view> words;
  for (int i = 1; i < argc; ++i) {
    if (argv[i][0] != '-') words.push_back(argv[i]);
  }
  return absl::StrCat(absl::StrJoin(words, " "), " ");
}

bool BeginsWithAny(absl::string_view words,
                   std::initializer_list<absl::string_view> commands) {
  return std::any_of(
      commands.begin(), commands.end(), [&](absl::string_view command) {
        return absl::StartsWith(words, absl::StrCat(command, " "));
      });
}

// Whether the arguments name a command that needs LibTorch, or ask for its
// inference: `backend=torch`, `--device cuda:1`.
bool NeedsTorch(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    const absl::string_view argument = argv[i];
    const absl::string_view before = argv[i - 1];
    if (absl::StrContains(argument, "backend=torch") ||
        absl::StrContains(argument, "device=cuda") ||
        (before == "--backend" && argument == "torch") ||
        (before == "--device" && absl::StartsWith(argument, "cuda"))) {
      return true;
    }
  }
  return BeginsWithAny(Words(argc, argv),
                       {"train", "export", "fleet-worker", "bench selfplay",
                        "bench inference", "bench learner"});
}

// Replaces this process by the program `tara_torch` next to it, with the same
// arguments. Returns the reason if it cannot be started.
absl::Status BecomeTorchProgram(char* const* argv) {
  // OpenMP reads these when it is loaded, so they are set here. By default its
  // threads spin for milliseconds while they wait, and take the time of those
  // that work: a step of learning took up to ten times as long on a busy
  // machine. Threads that sleep at once wake too late, hundreds of times per
  // step, which then takes a third longer. So they spin for some 0.1 ms.
  setenv("OMP_WAIT_POLICY", "PASSIVE", /*overwrite=*/0);
  setenv("GOMP_SPINCOUNT", "5000", /*overwrite=*/0);
  // Memory in pages of 2 MB where the kernel grants them on request: the
  // learner's tensors lie in thousands of the usual ones, more than a processor
  // remembers the places of. Read when the program starts.
  setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1", /*overwrite=*/0);
  constexpr char kSelf[] = "/proc/self/exe";
  std::error_code error;
  const std::string self = std::filesystem::read_symlink(kSelf, error).string();
  if (error) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot read ", kSelf,
                     ", which says where the program with LibTorch "
                     "is that `tara ",
                     argv[1], "` needs here: ", error.message()));
  }
  const std::string path = self + "_torch";
  execv(path.c_str(), argv);
  return absl::FailedPreconditionError(absl::StrCat(
      "cannot start ", path, ", the program with LibTorch, which `tara ",
      argv[1], "` needs here: ", std::strerror(errno),
      "; a clone of the project has it"));
}

int Report(const absl::Status& error, absl::string_view command,
           Console& console) {
  console.err << "tara: " << Printable(error.message());
  if (IsUsageError(error)) console.err << " (see " << command << " --help)";
  console.err << "\n";
  return IsUsageError(error) ? kExitUsage : kExitFailure;
}

int RunCommand(int argc, const char* const* argv, Console& console) {
  Command root(
      "play, train, compare and study ten variants of the board game Tara");
  AddCommands(root);
  const ParsedCommand command =
      ParsedCommand::Parse(root, absl::StrCat("tara ", kVersion), argc, argv);
  const absl::StatusOr<int> status =
      CatchExhaustion([&] { return command.run(console); });
  console.out.flush();
  if (absl::IsCancelled(status.status()) && StopRequested()) {
    console.err << "tara: " << status.status().message() << "\n";
    return kExitInterrupted;
  }
  if (!status.ok()) return Report(status.status(), command.name, console);
  if (!console.out && *status == kExitOk) {
    console.err << "tara: cannot write the output\n";
    return kExitFailure;
  }
  return *status;
}

// Returns INVALID_ARGUMENT if TARA_INSTRUCTION_SET
// (tara/core/instruction_set.h) names nothing that this processor supports.
absl::Status CheckInstructionSet() {
  const char* const highest = std::getenv("TARA_INSTRUCTION_SET");
  if (highest == nullptr ||
      InstructionSetName(SupportedInstructionSets().back()) == highest) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "the environment variable TARA_INSTRUCTION_SET is '", highest,
      "'; expected portable, or avx2 or avx512 where the processor has it"));
}

// What an exception comes to that nothing else has caught, as one on another
// thread: a message, not the end by a signal. Without one it is a bug.
[[noreturn]] void EndByException() {
  if (const std::exception_ptr error = std::current_exception()) {
    try {
      std::rethrow_exception(error);
    } catch (const std::bad_alloc&) {
      std::fputs("tara: out of memory\n", stderr);
    } catch (const std::exception& other) {
      std::fprintf(stderr, "tara: unexpected error: %s\n", other.what());
    } catch (...) {
      std::abort();
    }
    std::_Exit(kExitFailure);
  }
  std::abort();
}

int RunProgram(int argc, char** argv) {
  // Debian's Abseil looks for deadlocks: each lock of any mutex also takes one
  // that all threads share. The tests keep this check.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  // `tara help play` is `tara --help play`.
  static char help[] = "--help";
  if (argc > 1 && absl::string_view(argv[1]) == "help") argv[1] = help;
  // A reader that has seen enough (`tara ... | head`) ends us without a word,
  // even where the parent process ignored the signal.
  std::signal(SIGPIPE, SIG_DFL);
  // A file that may grow no more is an error as a full disk is.
  std::signal(SIGXFSZ, SIG_IGN);
  std::set_terminate(EndByException);
  Console console = StandardConsole();
  if (const absl::Status status = CheckInstructionSet(); !status.ok()) {
    return Report(status, "tara", console);
  }
  if (!kWithTorch && NeedsTorch(argc, argv)) {
    return Report(BecomeTorchProgram(argv), argv[1], console);
  }
  // It compares with LibTorch too where that is there, or notes that it is not.
  if (!kWithTorch && BeginsWithAny(Words(argc, argv), {"model verify"})) {
    BecomeTorchProgram(argv).IgnoreError();
  }
  try {
    return RunCommand(argc, argv, console);
  } catch (const std::exception& error) {
    // Most likely a bug; reported without a stack trace.
    console.err << "tara: unexpected error: " << error.what() << "\n";
    return kExitFailure;
  }
}

}  // namespace
}  // namespace tara::cli

int main(int argc, char** argv) { return tara::cli::RunProgram(argc, argv); }
