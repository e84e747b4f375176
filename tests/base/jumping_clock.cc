// Replaces the clocks of a test's process: the system's clock is set an hour
// ahead each time that it is read, as somebody may set it, and the steady clock
// goes on by a millisecond. Others are the kernel's.

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

extern "C" int clock_gettime(clockid_t clock, timespec* now) noexcept {
  static std::atomic<int64_t> system_hours = 500'000;  // since 1970
  static std::atomic<int64_t> steady_ms = 1'000;
  if (clock == CLOCK_REALTIME) {
    *now = {.tv_sec = 3600 * ++system_hours, .tv_nsec = 0};
    return 0;
  }
  if (clock == CLOCK_MONOTONIC) {
    const int64_t ms = ++steady_ms;
    *now = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1'000'000};
    return 0;
  }
  return static_cast<int>(syscall(SYS_clock_gettime, clock, now));
}
