// Texts of other people, as every command that reads or shows them meets them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "tara/base/text.h"
#include "tara/nn/bundle/zip_archive.h"
#include "tara/record/game_store.h"
#include "tests/cli/tara_process.h"

namespace tara::cli {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr absl::string_view kMark = "\xEF\xBB\xBF";
constexpr char kBundle[] = "models/fair_rules.tara";

// A command, with what it reads and what its output has to contain.
struct Reading {
  Words arguments;
  std::string input = "";
  std::string expected = "";
};

std::string GoldenGame() {
  return Lines(ReadFile("tests/golden/four_treasures.jsonl")).front();
}

// A byte order mark, "\r\n" and no-break spaces count for nothing. In these '_'
// stands for a no-break space and '~' for '_'.
TEST(EditedTextTest, IsReadAsIfItHadNotBeenEdited) {
  const auto edited = [](const std::string& text) {
    return absl::StrCat(
        kMark, absl::StrReplaceAll(
                   text, {{"\n", "\r\n"}, {"_", "\xC2\xA0"}, {"~", "_"}}));
  };
  for (const Reading& reading : {
           Reading{"verify -",
                   absl::StrReplaceAll(GoldenGame(), {{"_", "~"}}) + "\n",
                   "1 passed, 0 failed"},
           Reading{"review - --player mcts:sims=2 --nodes 0",
                   "four~treasures_D4 D5\n", "2 actions, not finished"},
           Reading{"review - --player mcts:sims=2 --nodes 0",
                   "{\"variant\":\n\"four~treasures\",_\"steps\":"
                   "[{\"action\":\"D4\"}]}\n",
                   "1 actions, not finished"},
           Reading{{"show", "--position", "EDITED four~treasures_D4"},
                   "",
                   "Blue to move"},
           Reading{{"show", "--position",
                    "EDITED four~treasures 5/7/7/2rb3/7/7/5_0\n"},
                   "",
                   "Red to move"},
           Reading{{"show", "--variant", "four_treasures", "--actions",
                    "EDITED D4_D5\n"},
                   "",
                   "Red to move"},
           Reading{"engine --model playouts",
                   "1 variant_four~treasures\n2_play D4\n3 history\nquit\n",
                   "=3 D4\n"},
           Reading{"engine --json --model playouts",
                   "{\"id\":1,_\"position\":\"four~treasures_5/7/7/7/7/7/5 0 "
                   "battle - 0,0 0 - -\",\"simulations\":1}\n",
                   "\"simulations\":1"},
       }) {
    Words arguments = reading.arguments;
    SCOPED_TRACE(arguments[0]);
    for (std::string& argument : arguments) {
      absl::string_view text = argument;
      if (absl::ConsumePrefix(&text, "EDITED ")) {
        argument = edited(std::string(text));
      }
    }
    EXPECT_THAT(OutputOf(arguments, edited(reading.input)),
                HasSubstr(reading.expected));
  }
}

// Refused in the program's own words, by each command that parses JSON.
TEST(DeepJsonTest, IsRefused) {
  const std::string deep =
      absl::StrCat("{\"variant\":", std::string(100000, '['),
                   std::string(100000, ']'), ",\"steps\":[],\"result\":{}}\n");
  const std::string file = TemporaryPath("deep.jsonl");
  WriteFile(file, deep);
  for (const std::string& command :
       {"verify " + file, "review " + file + " --player mcts:sims=2",
        "engine --json --model playouts < " + file}) {
    const TaraResult result = RunShell("\"$TARA\" " + command);
    EXPECT_LT(result.status, 3) << result.err;
    EXPECT_THAT(result.out + result.err,
                AllOf(HasSubstr("JSON nests deeper than 32"),
                      Not(HasSubstr("json.exception"))));
  }
}

// What foreign text may do to a terminal, and how long it may be.
const std::string& Hostile() {
  static const auto* const text =
      new std::string("\x1b]0;pwn\x07" + std::string(5000, 'x'));
  return *text;
}

void ExpectTamed(const TaraResult& result) {
  for (const std::string* const text : {&result.out, &result.err}) {
    EXPECT_THAT(*text, AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\x07"))));
  }
  EXPECT_THAT(result.out + result.err, HasSubstr("\\x1b]0;pwn\\x07"));
}

TEST(HostileValueTest, IsShownEscapedAndCut) {
  const auto hostile = [](const std::string& text) {
    return absl::StrReplaceAll(text, {{"EVIL", Hostile()}});
  };
  for (const Reading& reading : {
           Reading{"show --variant EVIL"},
           Reading{"show --position EVIL"},
           Reading{{"show", "--position", "four_treasures EVIL/7 0"}},
           Reading{{"show", "--position", "four_treasures 5/EVIL/7/7/7/7/5 0"}},
           Reading{{"show", "--position", "four_treasures D4 EVIL"}},
           Reading{{"show", "--position", "four_treasures EVIL=1 D4"}},
           Reading{"show --variant four_treasures --actions EVIL"},
           Reading{"show --variant four_treasures --option EVIL"},
           Reading{"show --variant four_treasures --option EVIL=1"},
           Reading{"show --variant four_treasures --option compensation=EVIL"},
           Reading{"show EVIL"},
           Reading{"show --EVIL"},
           Reading{"EVIL"},
           Reading{"perft --variant four_treasures --depth EVIL"},
           Reading{"arena --variant four_treasures EVIL random"},
           Reading{"arena --variant four_treasures mcts:EVIL=1 random"},
           Reading{"arena --variant four_treasures mcts:sims=EVIL random"},
           Reading{
               "arena --variant four_treasures random greedy --sprt elo0=EVIL"},
           Reading{"engine --search EVIL=3"},
           Reading{"review -", "EVIL\n"},
           Reading{"review -", "four_treasures D4 EVIL\n"},
           Reading{"verify -",
                   "{\"variant\":\"\\u001b]0;pwn\\u0007xxx\",\"steps\":[],"
                   "\"result\":{}}\n"},
           Reading{"verify -",
                   "{\"variant\":\"four_treasures\",\"steps\":[],\"result\":{},"
                   "\"\\u001b]0;pwn\\u0007\":1}\n"},
       }) {
    Words arguments = reading.arguments;
    SCOPED_TRACE(absl::StrJoin(arguments, " "));
    for (std::string& argument : arguments) argument = hostile(argument);
    const TaraResult result = RunTara(arguments, hostile(reading.input));
    EXPECT_THAT(result.status, AnyOf(1, 2));
    ExpectTamed(result);
    EXPECT_LT(result.out.size() + result.err.size(), 1500u);
  }
}

TEST(HostileFileTest, OriginsOfBundlesAreShownEscaped) {
  const auto reader = nn::ZipReader::Open(ReadFile(kBundle)).value();
  std::vector<nn::ZipEntry> entries;
  for (const std::string& name : reader.Names()) {
    entries.push_back({name, reader.Read(name).value()});
    if (name != "manifest.json") continue;
    auto manifest = nlohmann::ordered_json::parse(entries.back().contents);
    manifest["made_by"] = Hostile();
    for (const char* const field :
         {"run", "checkpoint", "begun_with", "begun_with_crc32c"}) {
      manifest["provenance"][field] = Hostile();
    }
    manifest["provenance"]["scores"] = {{{"variant", Hostile()},
                                         {"opponent", Hostile()},
                                         {"generation", 1},
                                         {"games", 1},
                                         {"score", 0.5},
                                         {"low", 0.0},
                                         {"high", 1.0}}};
    entries.back().contents = manifest.dump();
  }
  const std::string path = TemporaryPath("hostile.tara");
  WriteFile(path, nn::MakeZip(entries).value());
  ExpectTamed({.out = OutputOf("model " + path)});
}

TEST(HostileFileTest, NamesOfStoresAreShownEscaped) {
  const std::string store = TemporaryPath("hostile.db");
  OutputOf(
      "selfplay --variant four_treasures --games 1 --sims 1 --model uniform "
      "-o " +
      store);
  {
    const auto opened =
        record::OpenGameStore(store, record::StoreMode::kReadWrite);
    proto::GameRecord game = opened.value()->Get(0).value();
    game.set_game_index(1);
    game.set_model_id(Hostile());
    ASSERT_TRUE(opened.value()->Add(game).ok());
  }
  ExpectTamed({.out = OutputOf("games list " + store)});
  ExpectTamed({.out = OutputOf("games show " + store + " 1")});
}

TEST(HostileFileTest, PagesAreUtf8WhateverTheNamesOfFilesAre) {
  const std::string page = TemporaryPath("page.html");
  OutputOf({"arena", "--variant", "four_treasures", "--games", "2", "--store",
            TemporaryPath("games\xff.db"), "--html", page, "random", "greedy"});
  const std::string text = ReadFile(page);
  EXPECT_EQ(ValidUtf8(text), text);
  EXPECT_THAT(text, HasSubstr("games\xEF\xBF\xBD.db"));
}

// Numbers are decimal, and an option is given once, in every list of options.
TEST(WrongOptionTest, IsRefused) {
  struct Wrong {
    Words arguments;
    std::string expected;
  };
  const Words arena = "arena --variant four_treasures";
  for (const Wrong& wrong : {
           Wrong{arena + "mcts:c_puct=0x1p3 random", "'0x1p3'"},
           Wrong{arena + "random greedy --sprt elo0=0x1", "'0x1'"},
           Wrong{arena + "random greedy --adjudicate agreement:0x1p-1,4",
                 "agreement:0x1p-1"},
           Wrong{"engine --search c_puct=0x1", "'0x1'"},
           Wrong{"stats --variant all --games 0x10", "'0x10'"},
           Wrong{"bench core --seconds 0x1", "'0x1'"},
           Wrong{"show --variant four_treasures --option compensation=0x1",
                 "'0x1'"},
           Wrong{"rate --variant four_treasures random greedy "
                 "--anchor random=0x1",
                 "random=0x1"},
           Wrong{arena + Words{"mcts:sims=1, sims=2", "random"},
                 "sims is given twice"},
           Wrong{arena + "engine:x,move=1,move=2 random",
                 "move is given twice"},
           Wrong{arena + "random greedy --sprt elo0=0,elo0=1",
                 "elo0 is given twice"},
           Wrong{"engine --search sims=1,sims=2", "sims is given twice"},
           Wrong{"show --variant four_treasures --option compensation=1 "
                 "--option compensation=2",
                 "compensation is given twice"},
       }) {
    EXPECT_THAT(ErrorOf(2, wrong.arguments), HasSubstr(wrong.expected));
  }
}

}  // namespace
}  // namespace tara::cli
