// No output of any command takes the place of what took hours to make.

#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cli/tara_process.h"

namespace tara::cli {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

// A command with an output, at "OUT"; STORE and GAME are files that it may
// read.
struct Output {
  std::string command;
  std::string option;
  std::string arguments;
  // The name of the file that it may replace or go on with.
  std::string own = "";
};

const std::vector<Output>& Outputs() {
  static const auto& outputs = *new std::vector<Output>{
      {"arena", "--html", "random greedy --html OUT"},
      {"arena", "--store", "random greedy --store OUT"},
      {"arena", "log=", "random engine:/bin/cat,log=OUT --games 2"},
      {"crossplay", "--html", "random greedy --html OUT"},
      {"crossplay", "--store", "random greedy --store OUT"},
      {"rate", "--html", "random greedy --html OUT"},
      {"rate", "--store", "random greedy --store OUT"},
      {"balance", "--html", "--player random --html OUT"},
      {"balance", "--store", "--player random --store OUT"},
      {"stats", "--html", "--html OUT"},
      {"selfplay", "--output", "-o OUT", "games.db"},
      {"explore build", "BOOK", "OUT", "book.db"},
      {"explore show", "--html", "BOOK --html OUT"},
      {"games export", "--output", "STORE -o OUT", "games.jsonl"},
      {"review", "--html", "GAME --html OUT"},
      {"review", "--notes", "GAME --notes OUT", "games.jsonl"},
      {"export", "--output", "RUN -o OUT", "net.tara"},
  };
  return outputs;
}

// Files of each kind, in a folder of their own, that of a run.
class OutputsTest : public ::testing::Test {
 protected:
  OutputsTest() : folder_(TemporaryPath("run")) {
    fs::create_directories(folder_ + "/checkpoints");
    fs::create_directories(folder_ + "/tensorboard");
    // Read by the commands: none of them is refused as such a file.
    const std::string store = TemporaryPath("games.db");
    const std::string book = TemporaryPath("book.db");
    const std::string games = TemporaryPath("games.jsonl");
    OutputOf("selfplay --variant four_treasures --games 1 --sims 1 -o " +
             store);
    OutputOf("explore build " + book + " --games " + store);
    OutputOf("games export " + store + " -o " + games);
    for (const std::string name : {"games.db", "kept.db"}) {
      fs::copy_file(store, At(name));
    }
    fs::copy_file(book, At("book.db"));
    fs::copy_file(games, At("games.jsonl"));
    // The beginning of a file says what it is.
    WriteFile(At("kept.db-wal"), "a log");
    WriteFile(At("net.tara"), "PK\x03\x04...");
    WriteFile(At("checkpoints/ckpt-000001.pt"), "TaraNet\n...");
    WriteFile(At("checkpoints/latest"), "ckpt-000001.pt\n");
    WriteFile(At("tensorboard/events.out.tfevents.1"), "...");
    WriteFile(At("config.textproto"), "seed: 1\n");
    WriteFile(At("state.textproto"), "plan { begin: 1 }\n");
    WriteFile(At("metrics.jsonl"), "{\"event\":\"note\"}\n");
    WriteFile(At("lock"), "");
    for (const fs::directory_entry& entry :
         fs::recursive_directory_iterator(folder_)) {
      if (entry.is_regular_file() && entry.path().filename() != "kept.db") {
        files_.push_back(fs::relative(entry.path(), folder_).string());
      }
    }
  }

  std::string At(const std::string& name) const { return folder_ + "/" + name; }

  TaraResult Run(const Output& output, const std::string& path) {
    Words words = output.command;
    if (output.command != "games export" && output.command != "review" &&
        output.command != "export") {
      words = words + "--variant" +
              (output.command == "crossplay" ? "four_treasures_doubles"
                                             : "four_treasures");
    }
    for (const std::string& argument : Words(output.arguments)) {
      words.push_back(absl::StrReplaceAll(
          argument, {{"OUT", path},
                     {"STORE", ::testing::TempDir() + "/games.db"},
                     {"BOOK", ::testing::TempDir() + "/book.db"},
                     {"GAME", ::testing::TempDir() + "/games.jsonl"},
                     {"RUN", folder_}}));
    }
    return RunTara(words);
  }

  int64_t FilesHere() const {
    return std::distance(fs::recursive_directory_iterator(folder_), {});
  }

  const std::string folder_;
  std::vector<std::string> files_;
};

TEST_F(OutputsTest, NothingOfTarasIsReplacedByAnythingElse) {
  EXPECT_THAT(files_, IsSupersetOf({"games.db", "checkpoints/latest"}));
  const int64_t before = FilesHere();
  for (const Output& output : Outputs()) {
    for (const std::string& name : files_) {
      if (name == output.own) continue;
      SCOPED_TRACE(absl::StrCat(output.command, " ", output.option, " ", name));
      const std::string contents = ReadFile(At(name));
      EXPECT_THAT(ErrorOf(1, Run(output, At(name))), HasSubstr(At(name)));
      EXPECT_TRUE(ReadFile(At(name)) == contents);
      EXPECT_EQ(FilesHere(), before);
    }
  }
}

TEST_F(OutputsTest, APipeIsRefusedAndNothingIsMadeBesideIt) {
  ASSERT_EQ(mkfifo(At("pipe").c_str(), 0600), 0);
  const int64_t before = FilesHere();
  for (const Output& output : Outputs()) {
    // What is logged may go to a terminal.
    if (output.option == "log=") continue;
    SCOPED_TRACE(absl::StrCat(output.command, " ", output.option));
    EXPECT_THAT(ErrorOf(1, Run(output, At("pipe"))), HasSubstr(At("pipe")));
    EXPECT_EQ(FilesHere(), before);
  }
}

// A new output has a row above.
TEST_F(OutputsTest, AllOutputsAreHere) {
  std::vector<std::string> commands = CommandsListedIn(OutputOf("--help"));
  for (size_t i = 0; i < commands.size(); ++i) {
    for (const std::string& below :
         CommandsListedIn(OutputOf(commands[i] + " --help"))) {
      commands.push_back(absl::StrCat(commands[i], " ", below));
    }
  }
  EXPECT_THAT(commands, IsSupersetOf({"arena", "games export"}));
  for (const std::string& command : commands) {
    const std::string help = OutputOf(command + " --help");
    for (const std::string option :
         {"--html", "--notes", "--output", "--store"}) {
      // As an option, and not in an example.
      if (!absl::StrContains(help, option + " FILE") &&
          !absl::StrContains(help, option + " DB")) {
        continue;
      }
      bool is_here = false;
      for (const Output& output : Outputs()) {
        is_here |= output.command == command && output.option == option;
      }
      EXPECT_TRUE(is_here) << command << " " << option;
    }
  }
}

TEST_F(OutputsTest, ANetworkIsAFile) {
  ASSERT_EQ(mkfifo(At("pipe").c_str(), 0600), 0);
  for (const std::string& path : {At("pipe"), std::string("/dev/zero")}) {
    for (const std::string& command :
         {"arena --variant four_treasures random net:" + path,
          "selfplay --variant four_treasures -o " + At("new.db") +
              " --player " + path,
          "export " + path + " -o " + At("new.tara")}) {
      const TaraResult result = RunTara(command);
      EXPECT_NE(result.status, 0);
      EXPECT_THAT(result.err, HasSubstr(path + ": a device or a pipe"));
    }
  }
}

}  // namespace
}  // namespace tara::cli
