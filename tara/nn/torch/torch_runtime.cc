#include "tara/nn/torch/torch_runtime.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <malloc.h>

namespace tara::nn {
namespace {

// OpenBLAS is reached by name, because which BLAS stands behind LibTorch is
// the system's choice.
void SetOpenBlasThreads(int threads) {
  using SetThreads = void (*)(int);
  const auto set_threads = reinterpret_cast<SetThreads>(
      ::dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));
  if (set_threads != nullptr) set_threads(threads);
}

bool PrepareProcess() {
  constexpr int kKeepBytes = 256 << 20;
  ::mallopt(M_MMAP_THRESHOLD, kKeepBytes);
  ::mallopt(M_TRIM_THRESHOLD, kKeepBytes);
  ::mallopt(M_TOP_PAD, 16 << 20);
  SetOpenBlasThreads(1);
  return true;
}

}  // namespace

void SetTorchThreads(int threads) {
  static const bool prepared = PrepareProcess();
  static_cast<void>(prepared);
  thread_local int current = 0;
  if (current == threads) return;
  at::set_num_threads(threads);
  current = threads;
}

}  // namespace tara::nn
