#ifndef TARA_BASE_CLOCKS_H_
#define TARA_BASE_CLOCKS_H_

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

// Returns the processor time of all threads of the process so far.
inline absl::Time ProcessTime() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return absl::TimeFromTimespec(now);
}

// Returns the time of a clock that never jumps, as a time since some epoch: for
// limits of time, which the system's clock would cut or stretch when it is set.
inline absl::Time SteadyTime() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return absl::TimeFromTimespec(now);
}

}  // namespace tara

#endif  // TARA_BASE_CLOCKS_H_
