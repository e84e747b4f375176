#include "tara/nn/cpu/cpu_kernels.h"

#include "tara/core/instruction_set.h"
#include "tara/nn/cpu/cpu_kernel_templates.h"

namespace tara::nn {

const CpuKernels& PortableCpuKernels() {
  static constexpr CpuKernels kKernels =
      internal::CpuKernelCode<InstructionSet::kPortable>::Table();
  return kKernels;
}

const CpuKernels& BestCpuKernels() {
#if defined(__x86_64__)
  static const CpuKernels kernels =
      SupportedInstructionSets().back() == InstructionSet::kAvx512
          ? internal::Avx512CpuKernels()
          : PortableCpuKernels();
  return kernels;
#else
  return PortableCpuKernels();
#endif
}

}  // namespace tara::nn
