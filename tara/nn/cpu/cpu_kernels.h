#ifndef TARA_NN_CPU_CPU_KERNELS_H_
#define TARA_NN_CPU_CPU_KERNELS_H_

// Our own vectorised parts of a network: pooling, biases and conversions of
// number types between convolutions, and Winograd's convolutions. The rows
// belong to one position: [49, C], the squares by rank, then file, channels
// last; C is a multiple of kChannelVector. All are pure: the result for a
// position does not depend on its batch.

#include <cstdint>

#include "tara/nn/cpu/cpu_weights.h"
#include "tara/nn/cpu/winograd.h"

namespace tara::nn {

// A bfloat16: the upper half of a float.
enum class Bfloat16 : uint16_t {};

// One implementation; chosen at run time.
struct CpuKernels {
  // Means over the 45 hills of each channel, then maxima: [2C]. Values are
  // not negative; an integer of channel c stands for itself times scales[c].
  void (*pool_floats)(const float* rows, int channels, float* pooled);
  void (*pool_bfloats)(const Bfloat16* rows, int channels, float* pooled);
  void (*pool_bytes)(const uint8_t* rows, int channels, const float* scales,
                     float* pooled);

  // [B, in] -> [B, out], with ReLU where `relu`; with `bias` [out], which is
  // the layer's or another.
  void (*linear)(const CpuLinearWeights& layer, const float* bias, int batch,
                 bool relu, const float* inputs, float* outputs);

  // Sets each row to `bias` [C], or adds it.
  void (*fill_rows)(const float* bias, int channels, float* rows);
  void (*add_to_rows)(const float* bias, int channels, float* rows);

  // Of `num_rows` rows, not negative, makes bytes: a value of channel c times
  // inverse_scales[c], rounded, at most 255.
  void (*rows_to_bytes)(const float* rows, int num_rows, int channels,
                        const float* inverse_scales, uint8_t* bytes);
  // The same with one scale, of `size` values; a multiple of 8.
  void (*to_bytes)(const float* values, int size, float inverse_scale,
                   uint8_t* bytes);
  // Rounded to nearest, ties to even. `size` is a multiple of 8.
  void (*to_bfloats)(const float* values, int size, Bfloat16* bfloats);

  // Convolutions whose layer holds floats, or integers.
  void (*convolve_floats)(const WinogradJob& job);
  void (*convolve_integers)(const WinogradJob& job);

  // Of filters that are learned: makes a block of output channels of
  // WinogradLayer.floats, which `points` is; and a gradient.
  void (*transform_filters)(const WinogradFilters& filters, int block,
                            float* points);
  void (*differentiate_filters)(const WinogradGradientJob& job);
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
