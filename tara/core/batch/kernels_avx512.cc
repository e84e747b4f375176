#include "tara/core/batch/kernel_table.h"
#include "tara/core/batch/kernels.h"

namespace tara::batch {

const KernelTable& Avx512Kernels() {
  return kKernelTable<InstructionSet::kAvx512>;
}

}  // namespace tara::batch
