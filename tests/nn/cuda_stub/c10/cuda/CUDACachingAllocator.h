#ifndef TESTS_NN_CUDA_STUB_C10_CUDA_CUDACACHINGALLOCATOR_H_
#define TESTS_NN_CUDA_STUB_C10_CUDA_CUDACACHINGALLOCATOR_H_

// Stands in for LibTorch's header, as ATen/cuda/CUDAGraph.h does.

#include <ATen/cuda/CUDAGraph.h>

namespace c10::cuda::CUDACachingAllocator {

inline void emptyCache() { at::cuda::stub_calls.emplace_back("free"); }

}  // namespace c10::cuda::CUDACachingAllocator

#endif  // TESTS_NN_CUDA_STUB_C10_CUDA_CUDACACHINGALLOCATOR_H_
