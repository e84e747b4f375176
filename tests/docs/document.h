#ifndef TESTS_DOCS_DOCUMENT_H_
#define TESTS_DOCS_DOCUMENT_H_

// A Markdown document taken apart, so that tests can hold what it says to what
// the code does and name the line that is wrong.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tara {

struct DocumentLine {
  int number = 0;  // from 1
  std::string text;
};

// What stands between a line ```language and the next line ```.
struct FencedBlock {
  std::string language;
  int number = 0;   // of the line that opens it
  int section = 0;  // number of the last heading before it; 0: none
  std::vector<DocumentLine> lines;
};

struct Document {
  std::string name;
  std::vector<DocumentLine> lines;  // all of them
  std::vector<FencedBlock> blocks;

  // Returns "name:number", to start a message about a line.
  std::string At(int number) const;
};

// A row of a table: its cells without the space around them.
struct TableRow {
  int number = 0;
  std::vector<std::string> cells;
};

// Returns the document, or INVALID_ARGUMENT for a block that has no end, has
// another language than text, transcript or none, or holds a transcript
// without saying so (and so would not be replayed).
absl::StatusOr<Document> ParseDocument(absl::string_view name,
                                       absl::string_view text);

// Reads a document that is in the test's data, by its path in the workspace.
absl::StatusOr<Document> ReadDocument(absl::string_view path);

// Returns the rows below the header row that starts with `header`, such as
// "| id | sides x seats |". Returns NOT_FOUND if there is not exactly one such
// header, INVALID_ARGUMENT for a row with another number of cells than it.
absl::StatusOr<std::vector<TableRow>> FindTable(const Document& document,
                                                absl::string_view header);

// Returns what `text` holds between pairs of backticks, in order.
std::vector<std::string> CodeSpans(absl::string_view text);

}  // namespace tara

#endif  // TESTS_DOCS_DOCUMENT_H_
