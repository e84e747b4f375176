#ifndef TARA_NN_CPU_CPU_KERNELS_H_
#define TARA_NN_CPU_CPU_KERNELS_H_

// The vectorised parts of a network: linear layers, pooling, biases and
// Winograd's convolutions. The rows belong to one position: [49, C], the
// squares by rank, then file, channels last; C is a multiple of kChannelVector.
// All are pure: the result for a position does not depend on its batch.

#include "tara/nn/cpu/cpu_weights.h"
#include "tara/nn/cpu/winograd.h"

namespace tara::nn {

// One implementation; chosen at run time.
struct CpuKernels {
  // Means over the 45 hills of each channel, then maxima: [2C]. Values are
  // not negative.
  void (*pool)(const float* rows, int channels, float* pooled);

  // [B, in] -> [B, out], with ReLU where `relu`; with `bias` [out], which is
  // the layer's or another.
  void (*linear)(const CpuLinearWeights& layer, const float* bias, int batch,
                 bool relu, const float* inputs, float* outputs);

  // Sets each row to `bias` [C], or adds it.
  void (*fill_rows)(const float* bias, int channels, float* rows);
  void (*add_to_rows)(const float* bias, int channels, float* rows);

  void (*convolve)(const WinogradJob& job);
};

// Returns the fastest that this processor supports.
const CpuKernels& BestCpuKernels();

// For tests: what runs on any processor that the project supports.
const CpuKernels& PortableCpuKernels();

namespace internal {

// REQUIRES: the processor supports InstructionSet::kAvx512.
CpuKernels Avx512CpuKernels();

}  // namespace internal
}  // namespace tara::nn

#endif  // TARA_NN_CPU_CPU_KERNELS_H_
