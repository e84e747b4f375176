#ifndef TARA_EVAL_REPORT_TEXT_TABLE_H_
#define TARA_EVAL_REPORT_TEXT_TABLE_H_

#include <string>
#include <vector>

namespace tara::eval {

// Returns the rows as lines with columns aligned, two spaces apart: the first
// `name_columns` to the left, the others, which are numbers, to the right.
// REQUIRES: at least one row; all rows have as many cells.
std::string TextTable(const std::vector<std::vector<std::string>>& rows,
                      size_t name_columns);

}  // namespace tara::eval

#endif  // TARA_EVAL_REPORT_TEXT_TABLE_H_
