// Holds docs/reference/commands.md to the commands and their options.

#include <gtest/gtest.h>

#include <cctype>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "tara/eval/players/player_spec.h"
#include "tests/cli/tara_process.h"
#include "tests/docs/document.h"

namespace tara::cli {
namespace {

std::string HelpOf(const std::string& command) {
  std::vector<std::string> arguments =
      absl::StrSplit(command, ' ', absl::SkipEmpty());
  arguments.push_back("--help");
  return OutputOf(arguments);
}

// Adds the help of all commands below one of `tara`, but of those that only
// have others.
void AddCommands(const std::string& command,
                 std::map<std::string, std::string>& commands) {
  const std::string help = HelpOf(command);
  const std::vector<std::string> names = CommandsListedIn(help);
  const bool runs = names.empty() || absl::StrContains(help, "[OPTION]...");
  if (!command.empty() && runs) commands[command] = help;
  for (const std::string& name : names) {
    AddCommands(absl::StrCat(command, command.empty() ? "" : " ", name),
                commands);
  }
}

TEST(CommandsDocumentTest, EveryCommandHasARowWhoseOptionsItHas) {
  std::map<std::string, std::string> commands;
  AddCommands("", commands);
  EXPECT_GT(commands.size(), 20u);
  const Document page = ReadDocument("docs/reference/commands.md").value();
  bool in_table = false;
  for (const DocumentLine& line : page.lines) {
    if (line.text == "| command | purpose | main options |") in_table = true;
    if (!absl::StartsWith(line.text, "|")) in_table = false;
    if (!in_table || !absl::StartsWith(line.text, "| `")) continue;
    const std::vector<std::string> spans = CodeSpans(line.text);
    ASSERT_FALSE(spans.empty());
    // "games list RUN": the command is what comes before the arguments.
    std::vector<std::string> words;
    for (const absl::string_view word : absl::StrSplit(spans[0], ' ')) {
      if (std::islower(static_cast<unsigned char>(word[0])) == 0) break;
      words.emplace_back(word);
    }
    const std::string command = absl::StrJoin(words, " ");
    const auto found = commands.find(command);
    if (found == commands.end()) {
      ADD_FAILURE() << page.At(line.number) << ": no command '" << command
                    << "', or two rows of it";
      continue;
    }
    const std::string help = found->second;
    commands.erase(found);
    for (const std::string& span : spans) {
      for (const absl::string_view word :
           absl::StrSplit(span, absl::ByAnyChar(" []"))) {
        if (!absl::StartsWith(word, "--")) continue;
        EXPECT_TRUE(absl::StrContains(help, word))
            << page.At(line.number) << ": " << command << " has no " << word;
      }
    }
  }
  for (const auto& [command, help] : commands) {
    ADD_FAILURE() << command << " has no row";
  }
}

TEST(CommandsDocumentTest, EveryKindOfPlayerHasARow) {
  const Document page = ReadDocument("docs/reference/commands.md").value();
  const std::vector<TableRow> rows =
      FindTable(page, "| spec | player |").value();
  std::set<std::string> described;
  for (const TableRow& row : rows) {
    const std::string spec = CodeSpans(row.cells[0])[0];
    described.insert(spec.substr(0, spec.find_first_of(":[+")));
  }
  for (const eval::PlayerKindInfo& kind : eval::PlayerKinds()) {
    EXPECT_EQ(described.count(std::string(kind.name)), 1u) << kind.name;
  }
}

}  // namespace
}  // namespace tara::cli
