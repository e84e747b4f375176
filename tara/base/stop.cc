#include "tara/base/stop.h"

#include <atomic>
#include <csignal>

namespace tara {
namespace {

// A signal handler can reach nothing but a global.
std::atomic<bool> stop_requested = false;
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void RequestStop(int) { stop_requested = true; }

}  // namespace

StopCheck StopOnSignals() {
  struct sigaction action = {};
  action.sa_handler = RequestStop;
  // Restores the default after the first signal; system calls continue.
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  return StopRequested;
}

bool StopRequested() { return stop_requested.load(std::memory_order_relaxed); }

}  // namespace tara
