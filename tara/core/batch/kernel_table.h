#ifndef TARA_CORE_BATCH_KERNEL_TABLE_H_
#define TARA_CORE_BATCH_KERNEL_TABLE_H_

#include <cstdint>

#include "tara/core/batch/playout_sums.h"
#include "tara/core/rule_options.h"
#include "tara/core/variant.h"

namespace tara::batch {

// Random games first_game ... first_game + games - 1.
struct PlayoutRequest {
  RuleOptions options;
  uint64_t seed;
  int64_t first_game;
  int64_t games;
};

// Plays the games of a request and adds what they came to.
using PlayoutKernel = void (*)(const PlayoutRequest&, PlayoutSums&);

// By variant; nullptr where the family has no lanes yet.
struct KernelTable {
  PlayoutKernel kernels[kNumVariants];
};

// One unit each, compiled for its instruction set. Calling a kernel needs a
// processor that has it; asking for the table does not.
const KernelTable& PortableKernels();
const KernelTable& Avx2Kernels();
const KernelTable& Avx512Kernels();

}  // namespace tara::batch

#endif  // TARA_CORE_BATCH_KERNEL_TABLE_H_
