#ifndef TARA_BASE_CLOCKS_H_
#define TARA_BASE_CLOCKS_H_

#include <time.h>

#include "absl/time/time.h"

namespace tara {

// Returns the time of a clock of the system, as a time since some epoch.
inline absl::Time ReadClock(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return absl::TimeFromTimespec(now);
}

// Returns the processor time of the calling thread so far: a clock that stands
// still while other work has the processor.
inline absl::Time ThreadTime() { return ReadClock(CLOCK_THREAD_CPUTIME_ID); }

// Returns the processor time of all threads of the process so far.
inline absl::Time ProcessTime() { return ReadClock(CLOCK_PROCESS_CPUTIME_ID); }

// Returns the time of a clock that never jumps: for limits of time, which the
// system's clock would cut or stretch when it is set.
inline absl::Time SteadyTime() { return ReadClock(CLOCK_MONOTONIC); }

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
