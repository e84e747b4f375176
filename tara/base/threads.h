#ifndef TARA_BASE_THREADS_H_
#define TARA_BASE_THREADS_H_

#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace tara {

// Calls run(0), ..., run(count - 1) at the same time, the first on the calling
// thread, the others on threads of their own. Returns when all have returned.
// Where there cannot be so many threads, the calling thread makes the calls
// that are left when it is done with its own: so none may wait for another to
// begin. What a call throws, the first of several, is thrown here once all have
// returned.
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
