#ifndef TARA_CORE_BATCH_AREAS_H_
#define TARA_CORE_BATCH_AREAS_H_

#include "tara/core/batch/lanes.h"
#include "tara/core/board.h"
#include "tara/core/rules/areas.h"

namespace tara::batch {

// Returns the hills on which the seat to move may act.
template <int kSeats, InstructionSet kSet>
TARA_INLINE Word<kSet> Area(int seat) {
  return Word<kSet>(kSeats == 4 ? rules::kDoublesAreas[seat] : kAllHills);
}

}  // namespace tara::batch

#endif  // TARA_CORE_BATCH_AREAS_H_
