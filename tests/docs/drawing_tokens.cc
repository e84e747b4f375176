#include "tests/docs/drawing_tokens.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"

namespace tara {
namespace {

using Row = std::vector<std::string>;

// Returns the tokens of rows given from rank 7 to rank 1.
std::optional<HillTokens> FromRows(const std::vector<Row>& rows) {
  if (rows.size() != kBoardSize) return std::nullopt;
  HillTokens tokens;
  int hill = 0;
  for (int rank = 0; rank < kBoardSize; ++rank) {
    const Row& row = rows[kBoardSize - 1 - rank];
    if (static_cast<int>(row.size()) != Count(RankBoard(rank))) {
      return std::nullopt;
    }
    for (const std::string& token : row) tokens[hill++] = token;
  }
  return tokens;
}

}  // namespace

std::vector<HillTokens> Drawings(const FencedBlock& block) {
  std::vector<std::vector<Row>> drawings;  // [drawing, row from the top]
  for (const DocumentLine& line : block.lines) {
    const Row parts = absl::StrSplit(line.text, '|');
    const int columns = static_cast<int>(parts.size()) - 1;
    if (columns == 0) continue;
    if (drawings.empty()) drawings.resize(columns);
    if (columns != static_cast<int>(drawings.size())) return {};
    for (int i = 0; i < columns; ++i) {
      Row row = absl::StrSplit(parts[i + 1], ' ', absl::SkipEmpty());
      // Before the next bar stands the rank of the next drawing.
      if (i + 1 < columns && !row.empty()) row.pop_back();
      drawings[i].push_back(std::move(row));
    }
  }
  std::vector<HillTokens> result;
  for (const std::vector<Row>& rows : drawings) {
    const std::optional<HillTokens> tokens = FromRows(rows);
    if (!tokens.has_value()) return {};
    result.push_back(*tokens);
  }
  return result;
}

std::optional<HillTokens> BoardTokens(absl::string_view position) {
  const Row fields = absl::StrSplit(position, ' ');
  if (fields.size() < 2) return std::nullopt;
  std::vector<Row> rows;
  for (const absl::string_view rank : absl::StrSplit(fields[1], '/')) {
    Row& row = rows.emplace_back();
    for (const char letter : rank) {
      const bool vacant = letter >= '1' && letter <= '7';
      row.insert(row.end(), vacant ? letter - '0' : 1,
                 vacant ? "." : std::string(1, letter));
    }
  }
  return FromRows(rows);
}

}  // namespace tara
