#ifndef TARA_BASE_THREADS_H_
#define TARA_BASE_THREADS_H_

#include <thread>
#include <vector>

namespace tara {

// Calls run(0), ..., run(count - 1) at the same time, the first on the calling
// thread, the others on threads of their own. Returns when all have returned.
template <typename Function>
void RunOnThreads(int count, const Function& run) {
  std::vector<std::thread> others;
  for (int i = 1; i < count; ++i) others.emplace_back([&run, i] { run(i); });
  run(0);
  for (std::thread& other : others) other.join();
}

}  // namespace tara

#endif  // TARA_BASE_THREADS_H_
