#include "tara/nn/torch_runtime.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>

namespace tara {
namespace {

std::atomic<int>& ThreadsSetting() {
  static std::atomic<int> threads{1};
  return threads;
}

// OpenBLAS has threads of its own. It is reached by name, because which BLAS
// stands behind LibTorch is the system's choice.
void SetOpenBlasThreads(int threads) {
  using SetThreads = void (*)(int);
  static const auto set_threads = reinterpret_cast<SetThreads>(
      ::dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));
  if (set_threads != nullptr) set_threads(threads);
}

}  // namespace

void SetTorchThreads(int threads) {
  constexpr int kKeepBytes = 256 << 20;
  ::mallopt(M_MMAP_THRESHOLD, kKeepBytes);
  ::mallopt(M_TRIM_THRESHOLD, kKeepBytes);
  ::mallopt(M_TOP_PAD, 16 << 20);
  ThreadsSetting() = std::max(1, threads);
  SetOpenBlasThreads(ThreadsSetting());
  AdoptTorchThreads();
}

void AdoptTorchThreads() {
  thread_local int adopted = 0;
  const int threads = ThreadsSetting();
  if (adopted == threads) return;
  at::set_num_threads(threads);
  adopted = threads;
}

}  // namespace tara
