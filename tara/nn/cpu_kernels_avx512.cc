#include "tara/nn/cpu_kernels_avx512.h"

#include "tara/core/instruction_set.h"
#include "tara/nn/cpu_kernel_templates.h"

namespace tara::internal {

CpuKernels Avx512CpuKernels() {
  return CpuKernelCode<InstructionSet::kAvx512>::Table();
}

}  // namespace tara::internal
