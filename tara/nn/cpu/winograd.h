#ifndef TARA_NN_CPU_WINOGRAD_H_
#define TARA_NN_CPU_WINOGRAD_H_

#include "tara/nn/cpu/cpu_weights.h"
#include "tara/nn/cpu/winograd_layer.h"

namespace tara::nn {

// Returns the weights transformed, for products of floats.
// REQUIRES: the kernel is 3 x 3.
WinogradLayer FloatWinogradLayer(const CpuConvolutionWeights& weights);

// The same for products of integers of 16 bits, whose sums never leave 32:
// inputs are from 0 to `range`; of greater ones some may be cut.
// REQUIRES: the kernel is 3 x 3; range > 0.
WinogradLayer IntegerWinogradLayer(const CpuConvolutionWeights& weights,
                                   float range);

}  // namespace tara::nn

#endif  // TARA_NN_CPU_WINOGRAD_H_
