#ifndef TARA_BASE_THREADS_H_
#define TARA_BASE_THREADS_H_

#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "absl/status/status.h"

namespace tara {

// Returns the number of processors that this process may use, at least 1: the
// ones that it is bound to (affinity), or fewer if its control group or one
// above it (cgroup v1 or v2) has a quota of processor time, which is rounded
// up. The files of the kernel are read under `root`.
// std::thread::hardware_concurrency counts the processors of the machine.
int UsableProcessors(const std::string& root = "/");

// Calls run(0), ..., run(count - 1) concurrently, the first on the calling
// thread and each other one on a new thread. Returns when all have returned. If
// the system refuses further threads, the calling thread makes the remaining
// calls after its own, so no call may wait for another one to begin. Rethrows
// the first exception of a call once all have returned.
template <typename Function>
void RunOnThreads(int count, const Function& run) {
  std::mutex mutex;
  std::exception_ptr error;
  const auto call = [&](int i) {
    try {
      run(i);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (error == nullptr) error = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  int begun = 1;
  try {
    for (; begun < count; ++begun) others.emplace_back(call, begun);
  } catch (const std::exception&) {  // no more threads, or no memory for them
  }
  call(0);
  for (; begun < count; ++begun) call(begun);
  for (std::thread& other : others) other.join();
  if (error != nullptr) std::rethrow_exception(error);
}

// Returns the result of a function, a status or a StatusOr. If the function
// throws for lack of memory or threads, returns RESOURCE_EXHAUSTED with the
// reason; its side effects until then remain. Other exceptions pass.
template <typename Function>
auto CatchExhaustion(const Function& function) -> decltype(function()) {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError("out of memory");
  } catch (const std::system_error& error) {
    if (error.code() != std::errc::resource_unavailable_try_again) throw;
    return absl::ResourceExhaustedError(
        "no more threads can be made: the system's limit is reached");
  }
}

// Says whether work should end early and cleanly. Asked often and from several
// threads: cheap and thread-safe.
using StopCheck = std::function<bool()>;

// From the first call on, SIGINT and SIGTERM no longer kill the process but
// make the returned check true; a second signal of the kind kills as usual.
// Call it once, from main.
StopCheck StopOnSignals();

// Returns what that check returns; false before StopOnSignals was called.
bool StopRequested();

}  // namespace tara

#endif  // TARA_BASE_THREADS_H_
