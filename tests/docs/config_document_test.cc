// Holds the tables of docs/reference/config.md to the fields of a config: their
// names, ranges, defaults, and which of them a run must keep.

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tara/train/config/config_fields.h"
#include "tests/docs/document.h"

namespace tara {
namespace {

constexpr absl::string_view kHeader =
    "| field | type | range | default | meaning |";

// A row of a table of fields, without the accents around its field.
struct FieldRow {
  bool is_fixed;  // marked by an asterisk
  std::string range;
  std::string default_text;
  std::string meaning;
};

// Returns the rows of all tables of fields, by field.
std::map<std::string, FieldRow> FieldRows(const Document& document) {
  std::map<std::string, FieldRow> rows;
  bool in_table = false;
  for (const DocumentLine& line : document.lines) {
    if (line.text == kHeader) {
      in_table = true;
      continue;
    }
    in_table = in_table && absl::StartsWith(line.text, "|");
    if (!in_table || absl::StartsWith(line.text, "|---")) continue;
    const std::vector<std::string> cells = absl::StrSplit(line.text, '|');
    if (cells.size() != 7) {
      ADD_FAILURE() << document.At(line.number) << ": expected five cells";
      continue;
    }
    const std::vector<std::string> name = absl::StrSplit(cells[1], '`');
    if (name.size() != 3) {
      ADD_FAILURE() << document.At(line.number) << ": expected `field`";
      continue;
    }
    rows[name[1]] = {
        .is_fixed = absl::StripAsciiWhitespace(name[2]) == "*",
        .range = std::string(absl::StripAsciiWhitespace(cells[3])),
        .default_text = std::string(absl::StripAsciiWhitespace(cells[4])),
        .meaning = std::string(absl::StripAsciiWhitespace(cells[5]))};
  }
  return rows;
}

// Empty for fields that are not numbers.
std::string RangeText(const train::ConfigField& field) {
  if (field.max_value == 0) return "";
  if (field.max_value == 0x1p64) {
    return absl::StrFormat("%.15g to 2^64 - 1", field.min_value);
  }
  return absl::StrFormat("%.15g to %.15g", field.min_value, field.max_value);
}

TEST(ConfigDocumentTest, EveryFieldIsDescribed) {
  const absl::StatusOr<Document> document =
      ReadDocument("docs/reference/config.md");
  ASSERT_TRUE(document.ok()) << document.status();
  std::map<std::string, FieldRow> rows = FieldRows(*document);
  for (const train::ConfigField& field : train::ConfigFields()) {
    const auto found = rows.find(std::string(field.path));
    if (found == rows.end()) {
      ADD_FAILURE() << field.path << " is not described";
      continue;
    }
    const FieldRow& row = found->second;
    EXPECT_EQ(row.range, RangeText(field)) << field.path;
    EXPECT_EQ(row.is_fixed, field.is_fixed) << field.path;
    EXPECT_FALSE(row.meaning.empty()) << field.path;
    if (field.default_value.empty()) {
      EXPECT_FALSE(row.default_text.empty()) << field.path;
    } else {
      EXPECT_EQ(row.default_text, absl::StrCat("`", field.default_value, "`"))
          << field.path;
    }
    rows.erase(found);
  }
  for (const auto& [name, row] : rows) {
    ADD_FAILURE() << name << " is described, but is no field";
  }
}

}  // namespace
}  // namespace tara
