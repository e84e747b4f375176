#ifndef TARA_CORE_BATCH_START_H_
#define TARA_CORE_BATCH_START_H_

#include <cstdint>

#include "tara/core/batch/lanes.h"
#include "tara/core/rule_options.h"
#include "tara/core/state.h"

namespace tara::batch {

// A State with plain arrays, for units that may not call the inline functions
// of the standard library (see lanes.h). The same bytes.
struct [[gnu::may_alias]] Start {
  uint64_t ringforts[2];
  uint64_t kings[2];
  uint64_t links_east;
  uint64_t links_north;
  Variant variant;
  Phase phase;
  uint8_t seat;
  Ending ending;
  uint8_t turns_left;
  uint8_t no_progress;
  uint8_t kings_captured[2];
  RuleOptions options;
  uint32_t padding;
};

static_assert(sizeof(Start) == sizeof(State));
static_assert(__builtin_offsetof(Start, kings) ==
              __builtin_offsetof(State, kings));
static_assert(__builtin_offsetof(Start, variant) ==
              __builtin_offsetof(State, variant));
static_assert(__builtin_offsetof(Start, kings_captured) ==
              __builtin_offsetof(State, kings_captured));
static_assert(__builtin_offsetof(Start, options) ==
              __builtin_offsetof(State, options));

// The state seen so. Not a copy: a processor that has just written 64 bytes at
// once makes reads of single fields wait.
TARA_INLINE const Start& StartOf(const State& state) {
  return reinterpret_cast<const Start&>(state);
}

}  // namespace tara::batch

#endif  // TARA_CORE_BATCH_START_H_
