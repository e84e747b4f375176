#ifndef TARA_BASE_THREAD_TIME_H_
#define TARA_BASE_THREAD_TIME_H_

#include <time.h>

#include "absl/time/time.h"

namespace tara {

// Returns the processor time of the calling thread so far, as a time since the
// epoch: a clock that stands still while other work has the processor.
inline absl::Time ThreadTime() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return absl::TimeFromTimespec(now);
}

}  // namespace tara

#endif  // TARA_BASE_THREAD_TIME_H_
