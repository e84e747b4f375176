#ifndef TARA_CLI_STATUS_LINE_H_
#define TARA_CLI_STATUS_LINE_H_

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "tara/cli/console.h"

namespace tara::cli {

// One line on stderr that is written over as work goes on; nothing at all
// where stderr is no terminal. Thread-safe.
class StatusLine {
 public:
  explicit StatusLine(Console& console);
  ~StatusLine();  // Clears
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  // Shows the text unless the last one was shown a moment ago.
  void Show(absl::string_view text);
  // Leaves the line empty, for what is printed next.
  void Clear();

 private:
  Console& console_;
  absl::Mutex mutex_;
  absl::Time last_shown_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  bool visible_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace tara::cli

#endif  // TARA_CLI_STATUS_LINE_H_
