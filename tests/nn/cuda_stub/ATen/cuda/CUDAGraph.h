#ifndef TESTS_NN_CUDA_STUB_ATEN_CUDA_CUDAGRAPH_H_
#define TESTS_NN_CUDA_STUB_ATEN_CUDA_CUDAGRAPH_H_

// Stands in for LibTorch's header where there is no CUDA: what our code uses of
// it, in the form of LibTorch 2.1 and later, which notes what is called. That
// CUDA does what it should cannot be tested by it.

#include <string>
#include <utility>
#include <vector>

enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal = 0,
  cudaStreamCaptureModeThreadLocal = 1,
};

namespace at::cuda {

// What the graphs of this thread were asked to do, in order.
inline thread_local std::vector<std::string> stub_calls;

class CUDAGraph {
 public:
  using Pool = std::pair<unsigned long long, unsigned long long>;

  ~CUDAGraph() { stub_calls.emplace_back("destroy"); }
  void capture_begin(Pool pool = {0, 0},
                     cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
    stub_calls.push_back((mode == cudaStreamCaptureModeThreadLocal
                              ? "begin of this thread in pool "
                              : "begin of all threads in pool ") +
                         std::to_string(pool.second));
  }
  void capture_end() { stub_calls.emplace_back("end"); }
  void replay() { stub_calls.emplace_back("replay"); }
  Pool pool() const { return {0, 7}; }
};

}  // namespace at::cuda

#endif  // TESTS_NN_CUDA_STUB_ATEN_CUDA_CUDAGRAPH_H_
