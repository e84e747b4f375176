// WebAssembly has one instruction set, which the portable code is compiled for.
// What asks for those of other processors is never called
// (SupportedInstructionSets names none of them) but must be there.

#include "tara/core/batch/kernel_table.h"

namespace tara::batch {

const KernelTable& Avx2Kernels() { return PortableKernels(); }
const KernelTable& Avx512Kernels() { return PortableKernels(); }

}  // namespace tara::batch
