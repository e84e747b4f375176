#include "tara/cli/console.h"

#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "absl/strings/str_split.h"
#include "tara/base/clocks.h"

namespace tara::cli {

Console StandardConsole() {
  return {.in = std::cin,
          .out = std::cout,
          .err = std::cerr,
          .in_is_terminal = isatty(STDIN_FILENO) != 0,
          .out_is_terminal = isatty(STDOUT_FILENO) != 0,
          .err_is_terminal = isatty(STDERR_FILENO) != 0};
}

bool UseColour(absl::string_view choice, const Console& console) {
  if (choice == "always") return true;
  if (choice == "never" || !console.out_is_terminal) return false;
  const char* const no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  const char* const term = std::getenv("TERM");
  return term != nullptr && *term != '\0' && absl::string_view(term) != "dumb";
}

std::string Wrap(absl::string_view words, int indent, int width) {
  std::string text;
  int column = indent;
  bool at_start = true;
  for (absl::string_view word : absl::StrSplit(words, ' ', absl::SkipEmpty())) {
    const int length = static_cast<int>(word.size());
    if (!at_start && column + 1 + length > width) {
      text += "\n" + std::string(indent, ' ');
      column = indent;
      at_start = true;
    }
    if (!at_start) {
      text += ' ';
      ++column;
    }
    text.append(word.data(), word.size());
    column += length;
    at_start = false;
  }
  return text;
}

namespace {

// Often enough to look alive, seldom enough to cost nothing.
constexpr absl::Duration kInterval = absl::Milliseconds(100);
// Back to the first column, and erase to the end of the line (ECMA-48).
constexpr char kEraseLine[] = "\r\x1b[K";

}  // namespace

StatusLine::StatusLine(Console& console, absl::Duration log_interval)
    : console_(console),
      interval_(console.err_is_terminal ? kInterval : log_interval),
      last_shown_(console.err_is_terminal ? absl::InfinitePast()
                                          : SteadyTime()) {}
StatusLine::~StatusLine() { Clear(); }

void StatusLine::Show(absl::string_view text) {
  absl::MutexLock lock(&mutex_);
  const absl::Time now = SteadyTime();
  if (now - last_shown_ < interval_) return;
  last_shown_ = now;
  if (!console_.err_is_terminal) {
    console_.err << text << std::endl;
    return;
  }
  visible_ = true;
  console_.err << kEraseLine << text << std::flush;
}

void StatusLine::Clear() {
  absl::MutexLock lock(&mutex_);
  if (visible_) console_.err << kEraseLine << std::flush;
  visible_ = false;
}

}  // namespace tara::cli
