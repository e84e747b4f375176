// Commands that write, on file systems of networks and containers: calls fail
// there that do not on a disk (tests/base/failing_calls.cc).

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cli/tara_process.h"

namespace tara::cli {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;
using ::testing::Not;

struct Writer {
  std::vector<std::string> arguments;
  std::string file;           // that is there afterwards
  bool locks = false;         // a file for itself
  bool has_database = false;  // writes one, or reads one
  bool replaces = false;      // writes files that are whole or not there
};

// In this order: some read what others have written.
std::vector<Writer> WritersIn(const std::string& folder) {
  const auto at = [&](const std::string& name) { return folder + "/" + name; };
  const std::string variant = "four_treasures";
  return {
      {.arguments = {"selfplay", "--variant", variant, "--games", "1", "--sims",
                     "1", "-o", at("games.db")},
       .file = at("games.db"),
       .locks = true,
       .has_database = true},
      {.arguments = {"explore", "build", at("book.db"), "--games",
                     at("games.db")},
       .file = at("book.db"),
       .locks = true,
       .has_database = true},
      {.arguments = {"arena", "--variant", variant, "random", "greedy",
                     "--games", "2", "--store", at("match.db"), "--html",
                     at("match.html")},
       .file = at("match.html"),
       .has_database = true,
       .replaces = true},
      {.arguments = {"games", "export", at("games.db"), "-o",
                     at("games.jsonl")},
       .file = at("games.jsonl"),
       .has_database = true,
       .replaces = true},
      {.arguments = {"review", at("games.jsonl"), "--player", "mcts:sims=2",
                     "--nodes", "100", "--notes", at("notes.jsonl")},
       .file = at("notes.jsonl"),
       .replaces = true},
      {.arguments = {"regret", "--player", "random", "--variant", variant,
                     "--positions", "1", "--test-set", at("set.jsonl")},
       .file = at("set.jsonl"),
       .replaces = true},
      {.arguments = {"train", "configs/tiny.textproto", "--set",
                     "run_dir=" + at("run"), "--set", "generations=1", "--set",
                     "self_play.search.simulations=2", "--set",
                     "evaluation.final_games=2"},
       .file = at("run/checkpoints/ckpt-000001.pt"),
       .locks = true,
       .has_database = true,
       .replaces = true},
      {.arguments = {"export", at("run"), "-o", at("net.tara")},
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
      EXPECT_EQ(RunTara(writer.arguments).status, 0);
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
    EXPECT_EQ(RunTara(writer.arguments).status, 0);
  }
}

}  // namespace
}  // namespace tara::cli
