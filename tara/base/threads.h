#ifndef TARA_BASE_THREADS_H_
#define TARA_BASE_THREADS_H_

#include <system_error>
#include <thread>
#include <vector>

#include "tara/base/check.h"

namespace tara {

// Calls run(0), ..., run(count - 1) at the same time, the first on the calling
// thread, the others on threads of their own. Returns when all have returned.
template <typename Function>
void RunOnThreads(int count, const Function& run) {
  std::vector<std::thread> others;
  for (int i = 1; i < count; ++i) {
    try {
      others.emplace_back([&run, i] { run(i); });
    } catch (const std::system_error&) {
      // Those that have begun may wait for the others.
      TARA_CHECK(false, "no more threads can be made; expected fewer");
    }
  }
  run(0);
  for (std::thread& other : others) other.join();
}

}  // namespace tara

#endif  // TARA_BASE_THREADS_H_
