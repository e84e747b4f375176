#include "tara/engine/line_command.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace tara::engine {
namespace {

std::string Answer(absl::string_view mark, absl::string_view id,
                   absl::string_view text) {
  std::string lines(absl::StripTrailingAsciiWhitespace(text));
  // Twice, as what is replaced does not overlap.
  for (int i = 0; i < 2; ++i)
    lines = absl::StrReplaceAll(lines, {{"\n\n", "\n \n"}});
  return absl::StrCat(mark, id, lines.empty() ? "" : " ", lines, "\n\n");
}

}  // namespace

LineCommand ParseLineCommand(absl::string_view line) {
  std::string text(line.substr(0, line.find('#')));
  std::replace(text.begin(), text.end(), '\t', ' ');
  text.erase(std::remove_if(text.begin(), text.end(), absl::ascii_iscntrl),
             text.end());
  std::vector<std::string> words = absl::StrSplit(text, ' ', absl::SkipEmpty());
  LineCommand command;
  auto next = words.begin();
  if (next != words.end() &&
      std::all_of(next->begin(), next->end(), absl::ascii_isdigit)) {
    command.id = *next++;
  }
  if (next != words.end()) command.name = *next++;
  command.arguments.assign(next, words.end());
  return command;
}

std::string LineAnswer(absl::string_view id, absl::string_view text) {
  return Answer("=", id, text);
}

std::string LineError(absl::string_view id, const absl::Status& status) {
  return Answer("?", id, absl::StrReplaceAll(status.message(), {{"\n", " "}}));
}

}  // namespace tara::engine
