#include "tara/nn/torch/cpu_tensors_torch.h"

#include <ATen/Parallel.h>

// Without OpenMP the header leaves one thread to do it all.
#if AT_PARALLEL_OPENMP && !defined(_OPENMP)
#error "expected -fopenmp: LibTorch divides work by OpenMP"
#endif

namespace tara::nn {

void ForEachPart(int64_t parts, const std::function<void(int64_t)>& compute) {
  at::parallel_for(0, parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) compute(part);
  });
}

}  // namespace tara::nn
