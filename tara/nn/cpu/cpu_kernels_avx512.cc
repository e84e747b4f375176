#include "tara/nn/cpu/cpu_kernels_avx512.h"

#include "tara/core/instruction_set.h"
#include "tara/nn/cpu/cpu_kernel_templates.h"

namespace tara::nn::internal {

CpuKernels Avx512CpuKernels() {
  return CpuKernelCode<InstructionSet::kAvx512>::Table();
}

}  // namespace tara::nn::internal
