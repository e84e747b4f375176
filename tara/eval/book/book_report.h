#ifndef TARA_EVAL_BOOK_BOOK_REPORT_H_
#define TARA_EVAL_BOOK_BOOK_REPORT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "tara/core/state.h"
#include "tara/eval/book/book.h"

namespace tara::eval {

// Data of a report in addition to the tree.
struct BookSource {
  std::string book;    // its file
  std::string player;  // of the searches; empty: none
  // The rules that its network has not learned; empty: none.
  std::string not_learned = {};
};

struct BookTextOptions {
  bool unicode = true;
  bool colour = false;
};

// Returns a position of the tree for terminals: the board, and a table of its
// actions, best first. Ends with a newline.
std::string BookReportText(const OpeningTree& tree,
                           const OpeningPosition& position,
                           const BookSource& source,
                           const BookTextOptions& options);

// Returns one JSON object on a line, documented in docs/how-
// to/explore_openings.md.
std::string BookReportJson(const OpeningTree& tree,
                           const OpeningPosition& position,
                           const BookSource& source);

// Returns one self-contained HTML file with all positions of the tree, from its
// start.
std::string BookPage(const OpeningTree& tree, const BookSource& source);

}  // namespace tara::eval

#endif  // TARA_EVAL_BOOK_BOOK_REPORT_H_
