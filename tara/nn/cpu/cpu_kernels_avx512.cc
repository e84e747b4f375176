#include "tara/core/instruction_set.h"
#include "tara/nn/cpu/cpu_kernel_templates.h"
#include "tara/nn/cpu/cpu_kernels.h"

namespace tara::nn::internal {

CpuKernels Avx512CpuKernels() {
  return CpuKernelCode<InstructionSet::kAvx512>::Table();
}

}  // namespace tara::nn::internal
