#ifndef TARA_CLI_CONSOLE_H_
#define TARA_CLI_CONSOLE_H_

#include <istream>
#include <ostream>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace tara::cli {

// Where a command reads and writes. Results go to `out`, progress and errors
// to `err`. The streams must outlive the console.
struct Console {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  // Whether a person is at the other end.
  bool in_is_terminal = false;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
};

// Returns a console on the process's standard streams.
Console StandardConsole();

// Returns whether to write colours to `out`, for the value of --colour:
// "always", "never" or "auto", which needs a terminal that is not dumb and
// heeds NO_COLOR (https://no-color.org).
bool UseColour(absl::string_view choice, const Console& console);

// Returns `words`, broken at spaces into lines of at most `width` columns.
// Lines after the first are indented by `indent`. The first line is shorter by
// `indent` columns, which the caller has written. No newline at the end.
std::string Wrap(absl::string_view words, int indent, int width = 79);

// One line on stderr that is overwritten during work. If stderr is not a
// terminal, such as a log, prints a line every `log_interval` of long work.
// Thread-safe.
class StatusLine {
 public:
  explicit StatusLine(Console& console,
                      absl::Duration log_interval = absl::Minutes(1));
  ~StatusLine();  // Clears
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  // Shows the text unless the last one was shown a moment ago.
  void Show(absl::string_view text);
  // Leaves the line empty, for what is printed next.
  void Clear();

 private:
  Console& console_;
  const absl::Duration interval_;
  absl::Mutex mutex_;
  absl::Time last_shown_ ABSL_GUARDED_BY(mutex_);
  bool visible_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace tara::cli

#endif  // TARA_CLI_CONSOLE_H_
