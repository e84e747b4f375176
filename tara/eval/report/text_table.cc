#include "tara/eval/report/text_table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace tara::eval {

std::string TextTable(const std::vector<std::vector<std::string>>& rows,
                      size_t name_columns) {
  std::vector<size_t> widths(rows[0].size());
  for (const std::vector<std::string>& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      if (i > 0) text += "  ";
      const std::string padding(widths[i] - row[i].size(), ' ');
      absl::StrAppend(&text, i < name_columns ? "" : padding, row[i],
                      i < name_columns ? padding : "");
    }
    text += "\n";
  }
  return text;
}

}  // namespace tara::eval
