#ifndef TARA_ENGINE_LINE_COMMAND_H_
#define TARA_ENGINE_LINE_COMMAND_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tara::engine {

// A line of the line protocol, taken apart:  [ID] NAME [ARGUMENT...] [# ...]
// Source of the form: Farnebäck 2002, "Specification of the Go Text Protocol,
// version 2", sections 2.3 and 2.5.
struct LineCommand {
  std::string id;    // digits; empty: none
  std::string name;  // empty: the line says nothing, or an id alone
  std::vector<std::string> arguments;

  // Whether the line wants no answer: it is empty, or a comment.
  bool is_nothing() const { return id.empty() && name.empty(); }
};

// Takes a line apart. Control characters but tabs, which part words, are left
// out; what follows '#' is a comment. Any bytes make some command.
LineCommand ParseLineCommand(absl::string_view line);

// Returns the answer with the blank line that ends it: "=ID text" or, of an
// error, "?ID message". Blank lines within the text become lines of a space,
// for a blank line ends an answer.
std::string LineAnswer(absl::string_view id, absl::string_view text);
std::string LineError(absl::string_view id, const absl::Status& status);

}  // namespace tara::engine

#endif  // TARA_ENGINE_LINE_COMMAND_H_
