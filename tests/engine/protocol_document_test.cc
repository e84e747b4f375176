// Replays every transcript of docs/reference/protocol.md with a real engine,
// and shows that a wrong one would be found.

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/docs/document.h"
#include "tests/engine/engine_process.h"

namespace tara::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr absl::string_view kProgram = "$ tara engine";

// What stands in a transcript: a line that is sent, and what comes back.
struct Exchange {
  int number = 0;  // line of the document
  std::string sent;
  std::vector<std::string> lines;  // without those that say nothing
};

std::vector<Exchange> Exchanges(const FencedBlock& block) {
  std::vector<Exchange> exchanges;
  for (size_t i = 1; i < block.lines.size(); ++i) {
    absl::string_view text = block.lines[i].text;
    if (absl::ConsumePrefix(&text, "> ")) {
      exchanges.push_back({block.lines[i].number, std::string(text), {}});
      continue;
    }
    text = absl::StripTrailingAsciiWhitespace(text);
    if (exchanges.empty()) exchanges.push_back({block.lines[i].number, "", {}});
    if (!text.empty()) exchanges.back().lines.emplace_back(text);
  }
  return exchanges;
}

std::string Lines(const std::vector<std::string>& lines) {
  return absl::StrJoin(lines, "\n");
}

// Line protocol: one exchange after the other.
std::vector<std::string> ReplayLines(const Document& document,
                                     const std::vector<Exchange>& exchanges,
                                     EngineProcess& engine) {
  std::vector<std::string> wrong;
  for (const Exchange& exchange : exchanges) {
    engine.SendLine(exchange.sent);
    std::vector<std::string> answer;
    if (!absl::StartsWith(exchange.sent, "#")) {
      for (const std::string& line : engine.ReadAnswer()) {
        const auto text = absl::StripTrailingAsciiWhitespace(line);
        if (!text.empty()) answer.emplace_back(text);
      }
    }
    // A busy machine may report on the way, too: the last report counts.
    const auto reports = [](absl::string_view line) {
      return absl::StartsWith(line, "root simulations ");
    };
    while (answer.size() > 1 && reports(answer[0]) && reports(answer[1])) {
      answer.erase(answer.begin());
    }
    if (answer == exchange.lines) continue;
    wrong.push_back(absl::StrCat(document.At(exchange.number), ": '",
                                 exchange.sent, "' is answered by\n",
                                 Lines(answer), "\nexpected\n",
                                 Lines(exchange.lines)));
  }
  return wrong;
}

// JSON: answers come in any order.
std::vector<std::string> ReplayJson(const Document& document,
                                    const FencedBlock& block,
                                    const std::vector<Exchange>& exchanges,
                                    EngineProcess& engine) {
  std::vector<std::string> expected;
  for (const Exchange& exchange : exchanges) {
    engine.SendLine(exchange.sent);
    expected.insert(expected.end(), exchange.lines.begin(),
                    exchange.lines.end());
  }
  engine.CloseInput();
  std::vector<std::string> answers;
  while (const auto line = engine.ReadLine()) answers.push_back(*line);
  std::sort(expected.begin(), expected.end());
  std::sort(answers.begin(), answers.end());
  if (answers == expected) return {};
  return {absl::StrCat(document.At(block.number), ": answers\n", Lines(answers),
                       "\nexpected\n", Lines(expected))};
}

// Returns what the engine says otherwise.
std::vector<std::string> Replay(const Document& document,
                                const FencedBlock& block) {
  if (block.lines.empty() || !absl::StartsWith(block.lines[0].text, kProgram)) {
    return {absl::StrCat(document.At(block.number),
                         ": transcript does not begin with '", kProgram, "'")};
  }
  const std::vector<std::string> arguments = absl::StrSplit(
      absl::StripPrefix(block.lines[0].text, kProgram), ' ', absl::SkipEmpty());
  EngineProcess engine(arguments);
  const std::vector<Exchange> exchanges = Exchanges(block);
  const bool json = std::find(arguments.begin(), arguments.end(), "--json") !=
                    arguments.end();
  std::vector<std::string> wrong =
      json ? ReplayJson(document, block, exchanges, engine)
           : ReplayLines(document, exchanges, engine);
  if (engine.Wait() != 0) {
    wrong.push_back(absl::StrCat(document.At(block.number), ": failed"));
  }
  return wrong;
}

std::vector<std::string> Replayed(absl::string_view lines) {
  const absl::StatusOr<Document> document = ParseDocument(
      "page.md", absl::StrCat("```transcript\n", lines, "\n```\n"));
  if (!document.ok()) return {document.status().ToString()};
  return Replay(*document, document->blocks.at(0));
}

TEST(ProtocolDocumentTest, EveryTranscriptReplays) {
  const Document document = ReadDocument("docs/reference/protocol.md").value();
  int replayed = 0;
  for (const FencedBlock& block : document.blocks) {
    if (block.language != "transcript") continue;
    ++replayed;
    for (const std::string& wrong : Replay(document, block)) {
      ADD_FAILURE() << wrong;
    }
  }
  EXPECT_GE(replayed, 5);
}

// What cannot be looked up is as good as not there.
TEST(ProtocolDocumentTest, EveryCommandIsDescribed) {
  const Document document = ReadDocument("docs/reference/protocol.md").value();
  const auto rows = FindTable(document, "| command |").value();
  std::set<std::string> described;
  for (const TableRow& row : rows) {
    const std::vector<std::string> spans = CodeSpans(row.cells[0]);
    ASSERT_FALSE(spans.empty()) << document.At(row.number);
    const std::vector<std::string> words = absl::StrSplit(spans[0], ' ');
    described.insert(words[0]);
  }
  EngineProcess engine({});
  const std::string list = engine.Ask("list_commands");
  std::set<std::string> known = absl::StrSplit(list.substr(2), '\n');
  EXPECT_EQ(described, known);
}

TEST(ReplayTest, WrongTranscriptsAreFound) {
  EXPECT_THAT(Replayed("$ tara engine\n> 1 name\n=1 Tara"), IsEmpty());
  EXPECT_THAT(Replayed("$ tara engine\n> 1 name\n=1 Rata"),
              ElementsAre(HasSubstr("page.md:3: '1 name' is answered by")));
  EXPECT_THAT(Replayed("> 1 name"),
              ElementsAre(HasSubstr("page.md:1: transcript does not begin")));
}

}  // namespace
}  // namespace tara::engine
