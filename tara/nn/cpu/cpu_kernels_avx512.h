#ifndef TARA_NN_CPU_CPU_KERNELS_AVX512_H_
#define TARA_NN_CPU_CPU_KERNELS_AVX512_H_

#include "tara/nn/cpu/cpu_kernels.h"

namespace tara::nn::internal {

// REQUIRES: the processor supports InstructionSet::kAvx512.
CpuKernels Avx512CpuKernels();

}  // namespace tara::nn::internal

#endif  // TARA_NN_CPU_CPU_KERNELS_AVX512_H_
