#ifndef TARA_CORE_BATCH_AREAS_H_
#define TARA_CORE_BATCH_AREAS_H_

#include "tara/core/batch/hill_games.h"
#include "tara/core/batch/lanes.h"
#include "tara/core/board.h"
#include "tara/core/rules/areas.h"

namespace tara::batch {

// Returns the entry of four boards for each lane's seat.
template <InstructionSet kSet>
TARA_INLINE Word<kSet> BySeat(const Board (&boards)[4],
                              const SeatToMove<kSet>& seat) {
  using W = Word<kSet>;
  if (seat.uniform) return W(boards[seat.seat]);
  const Mask<kSet> odd = NonZero(seat.by_lane & W(1));
  const Mask<kSet> upper = NonZero(seat.by_lane & W(2));
  return Select(upper, Select(odd, W(boards[3]), W(boards[2])),
                Select(odd, W(boards[1]), W(boards[0])));
}

// Returns the hills on which the seat to move may act.
template <int kSeats, InstructionSet kSet>
TARA_INLINE Word<kSet> Area(const SeatToMove<kSet>& seat) {
  if constexpr (kSeats == 4) return BySeat<kSet>(rules::kDoublesAreas, seat);
  return Word<kSet>(kAllHills);
}

}  // namespace tara::batch

#endif  // TARA_CORE_BATCH_AREAS_H_
