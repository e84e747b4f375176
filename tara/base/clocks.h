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

// Returns ThreadTime, up to 0.1 ms late, for limits that are checked all the
// time: that clock is a call of the kernel, which takes ten times as long as
// SteadyTime. No thread has had more time since the last call than has passed.
inline absl::Time CoarseThreadTime() {
  thread_local absl::Time read_at = absl::InfinitePast();
  thread_local absl::Time thread_time;
  const absl::Time now = SteadyTime();
  if (now - read_at >= absl::Microseconds(100)) {
    thread_time = ThreadTime();
    read_at = now;
  }
  return thread_time;
}

}  // namespace tara

#endif  // TARA_BASE_CLOCKS_H_
