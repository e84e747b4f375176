#ifndef TARA_BASE_TEXT_H_
#define TARA_BASE_TEXT_H_

// Text from outside: how it is read, and how it is shown.

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tara {

// --- Reading -----------------------------------------------------------------

// Returns the text in the form for parsers, independent of the editor, mail
// program or shell that it passed through: without a byte order mark, with '\n'
// for "\r\n", without a final '\r', and with spaces for no-break spaces outside
// of quotes.
std::string PlainText(absl::string_view text);

// Reads a decimal number, such as "-2.5e3", with blanks around it or not.
// Returns false for other text, hexadecimal numbers, infinities and NaN, too.
bool ParseDecimal(absl::string_view text, float* number);
bool ParseDecimal(absl::string_view text, double* number);

// An option as people write it, "sims=400". Points into that text.
struct OptionText {
  absl::string_view text;   // as a whole
  absl::string_view name;   // "sims"
  absl::string_view value;  // "400"; "" without '='
  bool has_value = false;   // there is a '='
};

// Returns the options of a list, without the blanks around names and values.
// Returns INVALID_ARGUMENT for a name that is given twice. The second form
// splits a text at its commas.
absl::StatusOr<std::vector<OptionText>> ParseOptionList(
    absl::Span<const absl::string_view> options);
absl::StatusOr<std::vector<OptionText>> ParseOptionList(absl::string_view text);

// --- Showing -----------------------------------------------------------------

// Returns the text for terminals: "\xNN" for control characters and for bytes
// that are not UTF-8. Files of others must not send a terminal commands.
std::string Printable(absl::string_view text);

// Returns the text with "\xNN" for every byte that is not a printable ASCII
// character: the names of engines, which stores are keyed by.
std::string PrintableAscii(absl::string_view text);

// Returns the text as messages show it: printable, and of at most some
// `max_bytes`, ending in "..." if it is longer.
std::string Shown(absl::string_view text, size_t max_bytes = 100);

// Returns the text with U+FFFD for bytes that are not UTF-8 (JSON, HTML).
std::string ValidUtf8(absl::string_view text);

}  // namespace tara

#endif  // TARA_BASE_TEXT_H_
