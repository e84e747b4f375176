#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cli/tara_process.h"

namespace tara::cli {
namespace {

// Commands that the system gives too little of something: memory, threads,
// descriptors. Each of them does its work, or ends with a message and status 1.

using ::testing::AnyOf;
using ::testing::HasSubstr;
using Json = nlohmann::json;

// Runs a command line of `tara` under limits of the shell's `ulimit`, with
// lines on its standard input.
TaraResult RunLimited(const std::string& limits, const std::string& command,
                      const std::string& input = "") {
  const std::string file = TemporaryPath("input");
  WriteFile(file, input);
  // The shell may not open files any more once it is limited.
  return RunShell(absl::StrCat("exec < ", file, " && ulimit ", limits,
                               " && exec $TARA ", command));
}

// Threads have stacks as large as that of the process may become, and this is
// more than all of its memory: there can be none.
constexpr char kNoThreads[] = "-s 8000000 && ulimit -v 4000000";

constexpr char kLines[] =
    "variant four_treasures\ngenmove\nanalyze simulations 300\nquit\n";
constexpr char kRequests[] =
    "{\"id\":1,\"variant\":\"four_treasures\",\"simulations\":300}\n"
    "{\"id\":2,\"command\":\"query_version\"}\n";

// Short runs of the commands, by their first words; FOLDER is a folder of the
// test's own. Of those that need a run or a file of games there is the error
// for a missing one.
std::map<std::string, std::string> Commands() {
  return {
      {"play", "play --variant four_treasures --opponent random"},
      {"train", "train FOLDER/none.textproto"},
      {"arena",
       "arena --variant four_treasures random mcts:sims=20 --games 8 "
       "--threads 4"},
      {"crossplay",
       "crossplay --variant sacred_hill_doubles_l1 random greedy --games 8"},
      {"rate",
       "rate random greedy --variant four_treasures "
       "--games 8"},
      {"selfplay",
       "selfplay --variant four_treasures --player mcts --sims 20 --games 4 "
       "-o FOLDER/games.db"},
      {"balance",
       "balance --variant four_treasures --player mcts:sims=4 --games 4 "
       "--threads 3"},
      {"puzzles",
       "puzzles --variant four_treasures --player random --games 1 "
       "--puzzles 1"},
      {"review", "review FOLDER/none.jsonl"},
      {"explore",
       "explore build FOLDER/book.db --variant four_treasures --player "
       "mcts:sims=20 --positions 30"},
      {"engine", "engine --model playouts --search sims=300"},
      {"engine --json",
       "engine --json --model playouts --search sims=300 --threads 3"},
      {"export", "export FOLDER/none -o FOLDER/none.tara"},
      {"fleet-worker", "fleet-worker FOLDER/none"},
      {"model", "model FOLDER/none.tara"},
      {"games", "games list FOLDER/none.db"},
      {"show", "show --variant sacred_hill_l1"},
      {"solve", "solve --variant four_treasures --node-limit 2k"},
      {"levels", "levels"},
      {"variants", "variants"},
      {"verify", "verify FOLDER/none.jsonl"},
      {"perft", "perft --variant four_treasures --depth 3"},
      {"stats", "stats --variant four_treasures --games 50k --threads 3"},
      {"web", "web --run FOLDER/none"},
      {"bench",
       "bench core --threads 2 --variant four_treasures --seconds 0.01"},
  };
}

std::string InputOf(const std::string& name) {
  if (name == "engine") return kLines;
  return name == "engine --json" ? kRequests : "";
}

// Those whose libraries, LibTorch's, end the program before it begins.
bool NeedsTorch(const std::string& name) {
  return name == "train" || name == "export" || name == "fleet-worker";
}

// Whether a command has ended in one of the ways that it may.
void ExpectOrderlyEnd(const TaraResult& result) {
  EXPECT_THAT(result.status, AnyOf(0, 1, 2)) << result.err;
  if (result.status != 0) {
    EXPECT_THAT(result.err, HasSubstr("tara"));
  }
  EXPECT_FALSE(absl::StrContains(result.err, "check failed")) << result.err;
}

// Runs all commands under limits.
void TryCommands(const std::string& limits, bool with_torch = false) {
  for (const auto& [name, command] : Commands()) {
    if (NeedsTorch(name) && !with_torch) continue;
    SCOPED_TRACE(absl::StrCat(limits, ": ", name));
    const std::string folder = TemporaryPath("folder");
    const std::string words =
        absl::StrReplaceAll(command, {{"FOLDER", folder}});
    ASSERT_EQ(RunShell("mkdir " + folder).status, 0);
    ExpectOrderlyEnd(RunLimited(limits, words, InputOf(name)));
  }
}

TEST(LimitsTest, EveryCommandIsTried) {
  const std::vector<std::string> names = CommandsListedIn(OutputOf("--help"));
  EXPECT_GE(names.size(), 20u);
  for (const std::string& name : names) {
    EXPECT_TRUE(Commands().contains(name)) << name;
  }
}

TEST(LimitsTest, LittleMemoryEndsNoCommandBySignal) {
  // From what is too little for the program itself.
  int tried = 0;
  for (const int megabytes : {60, 90, 150}) {
    const std::string limits = absl::StrCat("-v ", megabytes * 1024);
    if (RunLimited(limits, "variants").status != 0) continue;
    TryCommands(limits);
    ++tried;
  }
  EXPECT_GE(tried, 1);
}

TEST(LimitsTest, FewDescriptorsEndNoCommandBySignal) {
  for (const int files : {4, 6, 9}) {
    TryCommands(absl::StrCat("-n ", files), /*with_torch=*/true);
  }
}

TEST(LimitsTest, WithoutThreadsNoCommandEndsBySignal) {
  TryCommands(kNoThreads);
  // Those that can do with one do their work.
  for (const std::string command :
       {"arena --variant four_treasures random mcts:sims=20 --games 8 "
        "--threads 4",
        "stats --variant four_treasures --games 50k --threads 3"}) {
    EXPECT_EQ(RunLimited(kNoThreads, command).out,
              RunShell("exec $TARA " + command).out);
  }
  // The engine cannot.
  EXPECT_THAT(RunLimited(kNoThreads, "engine --model playouts", kLines).err,
              HasSubstr("tara: no more threads can be made"));
}

// As root the limit is of no account.
TEST(LimitsTest, WithoutProcessesNoCommandEndsBySignal) {
  if (geteuid() == 0) GTEST_SKIP() << "root has as many as it likes";
  TryCommands("-p 1");
}

// What Tara itself has too little of is no engine's loss.
TEST(LimitsTest, NoEngineLosesForWantOfDescriptors) {
  int errors = 0;
  for (int files = 6; files <= 40; ++files) {
    SCOPED_TRACE(files);
    const TaraResult result = RunLimited(
        absl::StrCat("-n ", files),
        "arena --variant four_treasures random \"engine:tests/eval/fake_engine,"
        "start=300,move=300\" --games 8 --threads 4 "
        "--format=json");
    if (result.status == 0) {
      EXPECT_FALSE(Json::parse(result.out)[0].contains("forfeits"))
          << result.out;
    } else {
      ++errors;
      EXPECT_EQ(result.status, 1);
      EXPECT_THAT(result.err, HasSubstr("Too many open files"));
    }
  }
  EXPECT_GT(errors, 0);
}

TEST(LimitsTest, AnEngineThatIsGoneIsAnErrorOfTheMatch) {
  // Ends in each game, and cannot be started for the fifth time.
  const std::string engine = TemporaryPath("engine");
  const std::string starts = TemporaryPath("starts");
  WriteFile(engine,
            absl::StrCat("#!/bin/sh\necho >> ", starts, "\n[ $(wc -l < ",
                         starts, ") -ge 4 ] && rm \"$0\"\n",
                         "exec tests/eval/fake_engine --fault exit\n"));
  ASSERT_EQ(RunShell("chmod +x " + engine).status, 0);
  EXPECT_THAT(
      ErrorOf(1, "arena --variant four_treasures random engine:" + engine +
                     ",start=300,move=300 --games 40 --threads 1"),
      HasSubstr(absl::StrCat("cannot start '", engine, "': No such file")));
}

// Commands that write, on file systems of networks and containers: calls fail
// there that do not on a disk (tests/base/failing_calls.cc).

namespace fs = std::filesystem;

using ::testing::Not;

struct Writer {
  Words arguments;
  std::string file;           // that is there afterwards
  bool locks = false;         // a file for itself
  bool has_database = false;  // writes one, or reads one
  bool replaces = false;      // writes files that are whole or not there
};

// In this order: some read what others have written.
std::vector<Writer> WritersIn(const std::string& folder) {
  const auto at = [&](const std::string& name) { return folder + "/" + name; };
  return {
      {.arguments = "selfplay --variant four_treasures --games 1 --sims 1 -o " +
                    at("games.db"),
       .file = at("games.db"),
       .locks = true,
       .has_database = true},
      {.arguments =
           "explore build " + at("book.db") + " --games " + at("games.db"),
       .file = at("book.db"),
       .locks = true,
       .has_database = true},
      {.arguments =
           "arena --variant four_treasures random greedy --games 2 --store " +
           at("match.db") + " --html " + at("match.html"),
       .file = at("match.html"),
       .has_database = true,
       .replaces = true},
      {.arguments =
           "games export " + at("games.db") + " -o " + at("games.jsonl"),
       .file = at("games.jsonl"),
       .has_database = true,
       .replaces = true},
      {.arguments = "review " + at("games.jsonl") +
                    " --player mcts:sims=2 --nodes 100 --notes " +
                    at("notes.jsonl"),
       .file = at("notes.jsonl"),
       .replaces = true},
      {.arguments = "train configs/tiny.textproto --set generations=1 "
                    "--set self_play.search.simulations=2 "
                    "--set evaluation.final_games=2 --set run_dir=" +
                    at("run"),
       .file = at("run/checkpoints/ckpt-000001.pt"),
       .locks = true,
       .has_database = true,
       .replaces = true},
      {.arguments = "export " + at("run") + " -o " + at("net.tara"),
       .file = at("net.tara"),
       .replaces = true},
  };
}

// Runs the command in which calls fail.
TaraResult RunFailing(const Writer& writer, const char* call, int error) {
  // Absolute, for the program that this one becomes.
  setenv("LD_PRELOAD", fs::absolute("tests/base/failing_calls.so").c_str(), 1);
  // With --config=asan; its library wants to be the first.
  const char* const asan = getenv("ASAN_OPTIONS");
  setenv("ASAN_OPTIONS",
         absl::StrCat(asan == nullptr ? "" : asan, ":verify_asan_link_order=0")
             .c_str(),
         1);
  setenv(call, absl::StrCat(error).c_str(), 1);
  TaraResult result = RunTara(writer.arguments);
  unsetenv("LD_PRELOAD");
  unsetenv(call);
  return result;
}

TEST(FileSystemsTest, CallsThatAreInterruptedOrUnknownStopNoWriter) {
  const std::vector<std::pair<const char*, int>> failures = {
      {"FAIL_OFTEN", EINTR},          {"FAIL_FSYNC_FOLDER", EINVAL},
      {"FAIL_FSYNC_FOLDER", ENOTSUP}, {"FAIL_FLOCK", ENOSYS},
      {"FAIL_FLOCK", ENOLCK},         {"FAIL_FLOCK", ENOTSUP}};
  for (const auto& [call, error] : failures) {
    const std::string folder = TemporaryPath(absl::StrCat(call, error));
    fs::create_directories(folder);
    for (const Writer& writer : WritersIn(folder)) {
      SCOPED_TRACE(absl::StrCat(call, " ", error, " ", writer.arguments[0]));
      const TaraResult result = RunFailing(writer, call, error);
      EXPECT_EQ(result.status, 0) << result.err;
      EXPECT_TRUE(fs::exists(writer.file));
      if (writer.locks && call == std::string("FAIL_FLOCK")) {
        EXPECT_THAT(result.err, HasSubstr("cannot be locked"));
      } else {
        EXPECT_THAT(result.err, Not(HasSubstr("cannot")));
      }
    }
  }
}

TEST(FileSystemsTest, AFolderThatTheDiskDoesNotTakeIsAnError) {
  const std::string folder = TemporaryPath("disk");
  fs::create_directories(folder);
  for (const Writer& writer : WritersIn(folder)) {
    SCOPED_TRACE(writer.arguments[0]);
    const TaraResult result = RunFailing(writer, "FAIL_FSYNC_FOLDER", EIO);
    EXPECT_EQ(result.status, writer.replaces ? 1 : 0) << result.err;
    if (writer.replaces) {
      EXPECT_THAT(result.err, HasSubstr("cannot sync the folder"));
      // For those that read what it writes.
      OutputOf(writer.arguments);
    }
  }
}

TEST(FileSystemsTest, ThatThereAreNoLocksForAStoreIsSaidAtOnce) {
  const std::string folder = TemporaryPath("locks");
  fs::create_directories(folder);
  for (const Writer& writer : WritersIn(folder)) {
    SCOPED_TRACE(writer.arguments[0]);
    if (writer.has_database) {
      const TaraResult result = RunFailing(writer, "FAIL_LOCKS", ENOLCK);
      EXPECT_EQ(result.status, 1);
      EXPECT_THAT(result.err, HasSubstr("its file system has no locks"));
    }
    OutputOf(writer.arguments);
  }
}

}  // namespace
}  // namespace tara::cli
