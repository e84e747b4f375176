#ifndef TARA_CORE_BATCH_KERNEL_TABLE_H_
#define TARA_CORE_BATCH_KERNEL_TABLE_H_

#include <cstdint>

#include "tara/core/playouts.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"

namespace tara::batch {

// Random games first_game ... first_game + games - 1 from one position.
struct PlayoutRequest {
  State start;  // the variant's start position
  uint64_t seed;
  int64_t first_game;
  int64_t games;
};

// Plays the games of a request and adds what they came to, but for the results,
// which derive from the margins.
using PlayoutKernel = void (*)(const PlayoutRequest&, PlayoutStatistics&);

// `playouts` random games from each of some positions of one variant, all with
// the same options and none finished. Arrays are indexed by position; `order`
// holds the indices of those to play, sorted by
// seat, or in Stone of Destiny by phase, then by number of ringforts.
struct PlayoutsFromRequest {
  const State* starts;
  const uint64_t* seeds;
  int playouts;
  const int32_t* order;
  int64_t count;    // length of `order`, not 0
  int8_t* margins;  // [positions][playouts], Red's; written
};

// Plays the games and writes their margins.
using PlayoutsFromKernel = void (*)(const PlayoutsFromRequest&);

// By variant.
struct KernelTable {
  PlayoutKernel from_start[kNumVariants];
  PlayoutsFromKernel from_positions[kNumVariants];
};

// One unit per instruction set; the x86-64 units are linked only there. Calling
// a kernel, but not getting a table, requires the instruction set.
const KernelTable& PortableKernels();
const KernelTable& Avx2Kernels();
const KernelTable& Avx512Kernels();

}  // namespace tara::batch

#endif  // TARA_CORE_BATCH_KERNEL_TABLE_H_
