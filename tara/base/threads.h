#ifndef TARA_BASE_THREADS_H_
#define TARA_BASE_THREADS_H_

#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace tara {

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

}  // namespace tara

#endif  // TARA_BASE_THREADS_H_
