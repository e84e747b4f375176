#ifndef TARA_NN_CPU_CPU_CONVOLUTION_H_
#define TARA_NN_CPU_CPU_CONVOLUTION_H_

// Convolutions over the 7 x 7 grid by oneDNN, made once and run often. Only for
// the .cc files of the engine: this header brings oneDNN along.

#include <array>
#include <cstddef>
#include <dnnl.hpp>
#include <string>
#include <vector>

#include "tara/nn/cpu/cpu_weights.h"

namespace tara::nn {

// Lets OpenMP, on which oneDNN is built, use the calling thread alone until
// this object goes. What holds otherwise is restored, because LibTorch counts
// on it (tara/nn/torch/torch_runtime.h).
class OneOpenMpThread {
 public:
  OneOpenMpThread();
  ~OneOpenMpThread();
  OneOpenMpThread(const OneOpenMpThread&) = delete;
  OneOpenMpThread& operator=(const OneOpenMpThread&) = delete;

 private:
  const int before_;
};

// A number type with the values that its units stand for.
struct CpuNumbers {
  dnnl::memory::data_type type = dnnl::memory::data_type::f32;
  // Of integers: value = scales[channel] * integer. [channels]
  std::vector<float> scales = {};
  std::vector<float> inverse_scales = {};
};

// A convolution of `batch` positions, channels last, computes
//   destination = ReLU(convolution(source) + bias [+ destination])
struct CpuConvolutionSpec {
  int batch = 1;
  CpuNumbers source = {};
  CpuNumbers destination = {};
  bool add_to_destination = false;
  bool relu = true;
};

// A convolution with its weights in oneDNN's layout. Immutable: threads may
// share it.
class CpuConvolution {
 public:
  // Throws dnnl::error. Weights are shared with `twin`, the same convolution
  // for another batch, where they lie in memory the same way; may be null.
  CpuConvolution(const dnnl::engine& engine,
                 const CpuConvolutionWeights& weights,
                 const CpuConvolutionSpec& spec, const CpuConvolution* twin);

  size_t scratch_bytes() const { return scratch_.get_size(); }
  // oneDNN's name of the implementation.
  const std::string& implementation() const { return implementation_; }

 private:
  friend class BoundConvolution;

  void PrepareWeights(const dnnl::engine& engine,
                      const CpuConvolutionWeights& weights, bool bytes,
                      const dnnl::memory::desc& desc);

  dnnl::memory::desc source_;
  dnnl::memory::desc destination_;
  dnnl::memory::desc scratch_;
  dnnl::memory weights_;
  dnnl::memory bias_;
  dnnl::convolution_forward primitive_;
  std::string implementation_;
};

// A convolution between buffers of one thread. Not thread-safe.
class BoundConvolution {
 public:
  // The buffers, and the convolution, must outlive it. Throws dnnl::error.
  BoundConvolution(const dnnl::engine& engine,
                   const CpuConvolution& convolution, void* source,
                   void* destination, void* scratch);

  // Throws dnnl::error.
  void Run(const dnnl::stream& stream) const;

 private:
  const CpuConvolution* convolution_;
  // Memory objects are handles: the arguments point to what they hold.
  dnnl::memory source_;
  dnnl::memory destination_;
  dnnl::memory scratch_;
  std::array<dnnl_exec_arg_t, 5> arguments_;
};

}  // namespace tara::nn

#endif  // TARA_NN_CPU_CPU_CONVOLUTION_H_
