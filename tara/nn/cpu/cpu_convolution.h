#ifndef TARA_NN_CPU_CPU_CONVOLUTION_H_
#define TARA_NN_CPU_CPU_CONVOLUTION_H_

// The convolutions of networks in narrow numbers, bfloat16 and int8, by oneDNN:
// made once and run often. What computes in float32 and int16 does without it.

#include <memory>

#include "tara/nn/cpu/cpu_network.h"
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

// Returns the convolutions of a network, for CpuNetwork. Throws dnnl::error, as
// do the objects that it returns.
std::unique_ptr<const NarrowConvolutions> OneDnnConvolutions(
    const CpuWeights& weights, const CpuLayerNumbers& numbers);

}  // namespace tara::nn

#endif  // TARA_NN_CPU_CPU_CONVOLUTION_H_
