#include "tests/docs/document.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tara/base/status_macros.h"

namespace tara {
namespace {

constexpr absl::string_view kFence = "```";

absl::Status CheckBlock(const Document& document, const FencedBlock& block) {
  if (block.language != "" && block.language != "text" &&
      block.language != "transcript") {
    return absl::InvalidArgumentError(
        absl::StrCat(document.At(block.number), ": block of unknown language '",
                     block.language, "'; expected text, transcript or none"));
  }
  if (block.language != "transcript" && !block.lines.empty() &&
      absl::StartsWith(block.lines.front().text, "position ")) {
    return absl::InvalidArgumentError(
        absl::StrCat(document.At(block.number),
                     ": block starts with a position; expected it marked "
                     "as transcript"));
  }
  return absl::OkStatus();
}

std::vector<std::string> Cells(absl::string_view row) {
  std::vector<absl::string_view> parts = absl::StrSplit(row, '|');
  std::vector<std::string> cells;
  // Nothing stands before the first bar and after the last.
  for (int i = 1; i + 1 < static_cast<int>(parts.size()); ++i) {
    cells.emplace_back(absl::StripAsciiWhitespace(parts[i]));
  }
  return cells;
}

}  // namespace

std::string Document::At(int number) const {
  return absl::StrCat(name, ":", number);
}

absl::StatusOr<Document> ParseDocument(absl::string_view name,
                                       absl::string_view text) {
  Document document;
  document.name = std::string(name);
  int section = 0;
  bool in_block = false;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const int number = static_cast<int>(document.lines.size()) + 1;
    document.lines.push_back({number, std::string(line)});
    if (absl::StartsWith(line, kFence)) {
      if (!in_block) {
        document.blocks.push_back(
            {std::string(line.substr(kFence.size())), number, section, {}});
      } else {
        TARA_RETURN_IF_ERROR(CheckBlock(document, document.blocks.back()));
      }
      in_block = !in_block;
    } else if (in_block) {
      document.blocks.back().lines.push_back({number, std::string(line)});
    } else if (absl::StartsWith(line, "#")) {
      section = number;
    }
  }
  if (in_block) {
    return absl::InvalidArgumentError(
        absl::StrCat(document.At(document.blocks.back().number),
                     ": block has no end; expected a line ```"));
  }
  return document;
}

absl::StatusOr<Document> ReadDocument(absl::string_view path) {
  const char* folder = std::getenv("TEST_SRCDIR");
  const char* workspace = std::getenv("TEST_WORKSPACE");
  if (folder == nullptr || workspace == nullptr) {
    return absl::FailedPreconditionError(
        "TEST_SRCDIR and TEST_WORKSPACE are not set; expected to run as a "
        "Bazel test");
  }
  std::ifstream file(absl::StrCat(folder, "/", workspace, "/", path));
  if (!file) {
    return absl::NotFoundError(absl::StrCat("cannot read ", path));
  }
  const std::string text{std::istreambuf_iterator<char>(file),
                         std::istreambuf_iterator<char>()};
  return ParseDocument(path, text);
}

absl::StatusOr<std::vector<TableRow>> FindTable(const Document& document,
                                                absl::string_view header) {
  int found = 0;
  int columns = 0;
  bool in_table = false;
  std::vector<TableRow> rows;
  for (const DocumentLine& line : document.lines) {
    if (absl::StartsWith(line.text, header)) {
      ++found;
      in_table = true;
      columns = static_cast<int>(Cells(line.text).size());
      continue;
    }
    in_table = in_table && absl::StartsWith(line.text, "|");
    if (!in_table || absl::StartsWith(line.text, "|---")) continue;
    TableRow row = {line.number, Cells(line.text)};
    if (static_cast<int>(row.cells.size()) != columns) {
      return absl::InvalidArgumentError(
          absl::StrCat(document.At(line.number), ": row of ", row.cells.size(),
                       " cells; expected ", columns, ", as its header has"));
    }
    rows.push_back(row);
  }
  if (found != 1) {
    return absl::NotFoundError(absl::StrCat(
        document.name, " has ", found, " tables '", header, "'; expected one"));
  }
  return rows;
}

std::vector<std::string> CodeSpans(absl::string_view text) {
  const std::vector<std::string> parts = absl::StrSplit(text, '`');
  std::vector<std::string> spans;
  for (int i = 1; i + 1 < static_cast<int>(parts.size()); i += 2) {
    spans.push_back(parts[i]);
  }
  return spans;
}

}  // namespace tara
