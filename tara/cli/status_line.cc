#include "tara/cli/status_line.h"

#include <ostream>

#include "absl/time/clock.h"

namespace tara::cli {
namespace {

// Often enough to look alive, seldom enough to cost nothing.
constexpr absl::Duration kInterval = absl::Milliseconds(100);
// Back to the first column, and erase to the end of the line (ECMA-48).
constexpr char kEraseLine[] = "\r\x1b[K";

}  // namespace

StatusLine::StatusLine(Console& console) : console_(console) {}
StatusLine::~StatusLine() { Clear(); }

void StatusLine::Show(absl::string_view text) {
  if (!console_.err_is_terminal) return;
  absl::MutexLock lock(&mutex_);
  const absl::Time now = absl::Now();
  if (now - last_shown_ < kInterval) return;
  last_shown_ = now;
  visible_ = true;
  console_.err << kEraseLine << text << std::flush;
}

void StatusLine::Clear() {
  absl::MutexLock lock(&mutex_);
  if (visible_) console_.err << kEraseLine << std::flush;
  visible_ = false;
}

}  // namespace tara::cli
