#ifndef TARA_CORE_BATCH_KERNEL_TABLE_H_
#define TARA_CORE_BATCH_KERNEL_TABLE_H_

#include <cstdint>

#include "tara/core/playouts.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"

namespace tara::batch {

// The plain arrays behind PlayoutStatistics, for units that may not call the
// inline functions of the standard library (see lanes.h). What derives from
// the distributions of length and margin is left to ToStatistics.
struct PlayoutSums {
  int64_t games = 0;
  int64_t plies = 0;
  int64_t length_squares = 0;
  int64_t max_length = 0;
  int64_t lengths[kMaxCountedLength + 1] = {};
  int64_t legal_actions = 0;
  int64_t legal_squares = 0;
  int64_t legal_times_length = 0;
  int64_t margins[kNumMargins] = {};
  int64_t endings[6] = {};
  int64_t captures = 0;
  int64_t kings_captured = 0;
  int64_t phase_plies[5] = {};
};

// Random games first_game ... first_game + games - 1 from one position.
struct PlayoutRequest {
  State start;  // the variant's start position
  uint64_t seed;
  int64_t first_game;
  int64_t games;
};

// Plays the games of a request and adds what they came to.
using PlayoutKernel = void (*)(const PlayoutRequest&, PlayoutSums&);

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
// a kernel requires a processor with the instruction set; getting the table
// does not.
const KernelTable& PortableKernels();
const KernelTable& Avx2Kernels();
const KernelTable& Avx512Kernels();

}  // namespace tara::batch

#endif  // TARA_CORE_BATCH_KERNEL_TABLE_H_
