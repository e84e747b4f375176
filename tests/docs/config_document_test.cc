// Holds the tables of docs/reference/config.md to the fields of a config, as
// proto/config.proto declares them, and to the table of search options.

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tara/mcts/options/option_table.h"
#include "tara/mcts/options/search_options.h"
#include "tara/train/config/config_fields.h"
#include "tests/docs/document.h"

namespace tara {
namespace {

constexpr absl::string_view kHeader =
    "| field | type | range | default | meaning |";

// Returns a cell without accents, and with the texts alone of its links.
std::string Plain(absl::string_view cell) {
  std::string text =
      absl::StrReplaceAll(absl::StripAsciiWhitespace(cell), {{"`", ""}});
  size_t middle;
  while ((middle = text.find("](")) != std::string::npos) {
    text.erase(middle, text.find(')', middle) + 1 - middle);
    text.erase(text.rfind('[', middle), 1);
  }
  return text;
}

// Returns the rows of all tables of fields, plain, by field.
std::map<std::string, std::string> FieldRows(const Document& document) {
  std::map<std::string, std::string> rows;
  bool in_table = false;
  for (const DocumentLine& line : document.lines) {
    if (line.text == kHeader) {
      in_table = true;
      continue;
    }
    in_table = in_table && absl::StartsWith(line.text, "|");
    if (!in_table || absl::StartsWith(line.text, "|---")) continue;
    std::vector<std::string> cells;
    for (const absl::string_view cell : absl::StrSplit(line.text, '|')) {
      cells.push_back(Plain(cell));
    }
    if (cells.size() != 7) {
      ADD_FAILURE() << document.At(line.number) << ": expected five cells";
      continue;
    }
    const std::vector<std::string> name = absl::StrSplit(cells[1], ' ');
    rows[name[0]] = absl::StrJoin(cells, " | ");
  }
  return rows;
}

TEST(ConfigDocumentTest, EveryFieldIsDescribedAsItIsDeclared) {
  const absl::StatusOr<Document> document =
      ReadDocument("docs/reference/config.md");
  ASSERT_TRUE(document.ok()) << document.status();
  std::map<std::string, std::string> rows = FieldRows(*document);
  for (const train::ConfigField& field : train::ConfigFields()) {
    const auto& info = field.info;
    const std::vector<std::string> cells = {
        "",
        field.path + (info.fixed() ? " *" : ""),
        train::FieldType(*field.field),
        info.values(),
        info.has_default_() ? info.default_() : info.computed(),
        info.help(),
        ""};
    EXPECT_EQ(rows[field.path], absl::StrJoin(cells, " | "));
    rows.erase(field.path);
  }
  for (const auto& [name, row] : rows) {
    ADD_FAILURE() << name << " is described, but is no field";
  }
}

TEST(ConfigDocumentTest, EverySearchOptionIsDescribedWithRangeAndDefault) {
  const absl::StatusOr<Document> document =
      ReadDocument("docs/reference/config.md");
  ASSERT_TRUE(document.ok()) << document.status();
  const absl::StatusOr<std::vector<TableRow>> rows =
      FindTable(*document, "| search option |");
  ASSERT_TRUE(rows.ok()) << rows.status();
  const auto table = mcts::SearchOptionTable();
  ASSERT_EQ(rows->size(), table.size());
  for (size_t i = 0; i < table.size(); ++i) {
    const std::vector<std::string>& cells = (*rows)[i].cells;
    EXPECT_EQ(Plain(cells[0]), table[i].name);
    if (!table[i].range().empty()) {
      EXPECT_EQ(cells[1], table[i].range()) << table[i].name;
    }
    // What players have beside it follows a semicolon.
    const std::vector<std::string> defaults =
        absl::StrSplit(Plain(cells[2]), ';');
    EXPECT_EQ(defaults[0], table[i].get(mcts::SearchOptions()))
        << table[i].name;
  }
}

}  // namespace
}  // namespace tara
