#ifndef TESTS_CORE_BATCH_STEPS_H_
#define TESTS_CORE_BATCH_STEPS_H_

// Single steps of the lanes, for tests that compare them with the scalar core.

#include <cstdint>

#include "tara/core/board.h"
#include "tara/core/rule_options.h"

namespace tara::batch {

// A multiple of every number of lanes.
inline constexpr int kStepLanes = 8;

struct StepFunctions {
  // Legal hills of Sacred Hill, Four Treasures and Poisoned Chalice in
  // kStepLanes positions of one seat and phase: of the variant at an index in
  // kVariants. False: the family is another.
  bool (*legal_hills)(int variant, const RuleOptions& options, const Board* own,
                      const Board* enemy, int seat, bool manoeuvres,
                      Board* legal);
  void (*kingdoms)(const Board* hills, uint64_t* counts);
  // A random hill out of each board, by the streams of games 0, 1, ... of a
  // seed; `draws` in succession, kStepLanes each.
  void (*random_hills)(const Board* boards, uint64_t seed, int draws,
                       Board* hills);
};

StepFunctions PortableSteps();
StepFunctions Avx2Steps();
StepFunctions Avx512Steps();

}  // namespace tara::batch

#endif  // TESTS_CORE_BATCH_STEPS_H_
