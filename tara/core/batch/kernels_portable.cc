#include "tara/core/batch/kernel_table.h"
#include "tara/core/batch/kernels.h"

namespace tara::batch {

const KernelTable& PortableKernels() {
  return kKernelTable<InstructionSet::kPortable>;
}

}  // namespace tara::batch
