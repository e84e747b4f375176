#include "tara/core/batch/kernel_table.h"
#include "tara/core/batch/kernels.h"

namespace tara::batch {

const KernelTable& Avx2Kernels() { return kKernelTable<InstructionSet::kAvx2>; }

}  // namespace tara::batch
