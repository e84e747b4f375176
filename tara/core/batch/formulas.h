#ifndef TARA_CORE_BATCH_FORMULAS_H_
#define TARA_CORE_BATCH_FORMULAS_H_

#include "tara/core/batch/lanes.h"
#include "tara/core/board.h"
#include "tara/core/rules/view.h"

namespace tara::batch {

// Returns the hills on which the seat to move may act.
template <int kSeats, InstructionSet kSet>
TARA_INLINE Word<kSet> Area(int seat) {
  return Word<kSet>(kSeats == 4 ? rules::kDoublesAreas[seat] : kAllHills);
}

// Formulas over boards that families share in lanes.

// A set of hills moved one step in each direction. Bits that leave the board
// are left in: whoever uses them masks with a set of hills.
template <InstructionSet kSet>
struct Steps {
  using W = Word<kSet>;

  W north, south, east, west;

  explicit TARA_INLINE Steps(W hills)
      : north(hills << 9),
        south(hills >> 9),
        east(hills << 1),
        west(hills >> 1) {}

  // Those of `hills` that have a neighbour in the set.
  TARA_INLINE W AdjacentIn(W hills) const {
    return hills & (north | south | east | west);
  }

  // Those of `hills` that have no neighbour in the set.
  TARA_INLINE W NotAdjacentIn(W hills) const {
    return hills & ~(north | south | east | west);
  }

  // Those of `hills` that have all their neighbours in the set. (A hill whose
  // southern neighbour is in the set is in `north`; one that has none there
  // needs none.)
  TARA_INLINE W BesiegedIn(W hills) const {
    constexpr Board kNoSouth = kAllHills & ~North(kAllHills);
    constexpr Board kNoNorth = kAllHills & ~South(kAllHills);
    constexpr Board kNoWest = kAllHills & ~East(kAllHills);
    constexpr Board kNoEast = kAllHills & ~West(kAllHills);
    return hills & (north | W(kNoSouth)) & (south | W(kNoNorth)) &
           (east | W(kNoWest)) & (west | W(kNoEast));
  }
};

// Returns a where it is not empty, else b.
template <InstructionSet kSet>
TARA_INLINE Word<kSet> FirstNonEmpty(Word<kSet> a, Word<kSet> b) {
  if constexpr (kSet == InstructionSet::kAvx512) {
    return Select(NonZero(a), a, b);
  } else {
    return a | KeepIf(IsZero(a), b);
  }
}

// Number of adjacent pairs in the set.
template <InstructionSet kSet>
TARA_INLINE Word<kSet> AdjacentPairs(Word<kSet> hills) {
  return PopCount(hills & (hills << 1)) + PopCount(hills & (hills << 9));
}

// A set of hills and all that they touch, with an edge or a corner. Bits that
// leave the board are left in.
template <InstructionSet kSet>
TARA_INLINE Word<kSet> Dilated(Word<kSet> hills) {
  const Word<kSet> rows = hills | (hills << 1) | (hills >> 1);
  return rows | (rows << 9) | (rows >> 9);
}

// Number of sets, linked by edges or corners, that the hills fall into. Few
// rounds if they are few.
template <InstructionSet kSet>
TARA_INLINE Word<kSet> CountTouchingSets(Word<kSet> hills) {
  using W = Word<kSet>;
  W count(uint64_t{0});
  while (Any(NonZero(hills))) {
    // One set of each lane at a time.
    count += KeepIf(NonZero(hills), W(1));
    W set = LowestBit(hills);
    while (true) {
      const W grown = Dilated(set) & hills;
      if (!Any(NonZero(grown ^ set))) break;
      set = grown;
    }
    hills &= ~set;
  }
  return count;
}

// Number of kingdoms of both sides: connected components by adjacency.
//
// By Euler's formula they are vertices minus edges plus bounded faces: the
// full 2 x 2 squares, and the holes. A hole is a set of other cells, linked by
// edges or corners, out of which no such path leads off the board. Holes are
// rare; most often one flood from outside shows that there are none.
template <InstructionSet kSet>
TARA_INLINE void CountKingdoms(const Word<kSet> (&hills)[2],
                               Word<kSet> (&kingdoms)[2]) {
  using W = Word<kSet>;
  // Hills that touch the outside, at least with a corner (as B2 does).
  constexpr Board kRim = RankBoard(0) | RankBoard(6) | FileBoard(0) |
                         FileBoard(6) | BoardOf(HillAt(1, 1)) |
                         BoardOf(HillAt(1, 5)) | BoardOf(HillAt(5, 1)) |
                         BoardOf(HillAt(5, 5));
  W others[2], outside[2];
  for (int side = 0; side < 2; ++side) {
    const W own = hills[side];
    const W squares = own & (own >> 1) & (own >> 9) & (own >> 10);
    kingdoms[side] = PopCount(own) + PopCount(squares) - AdjacentPairs(own);
    others[side] = W(kAllHills) & ~own;
    outside[side] = others[side] & W(kRim);
    // As far as most floods go.
    for (int step = 0; step < 3; ++step) {
      outside[side] = Dilated(outside[side]) & others[side];
    }
  }
  while (true) {
    const W red = Dilated(outside[0]) & others[0];
    const W blue = Dilated(outside[1]) & others[1];
    const W grown = (red ^ outside[0]) | (blue ^ outside[1]);
    if (!Any(NonZero(grown))) [[likely]]
      break;
    outside[0] = red;
    outside[1] = blue;
  }
  const W red_holes = others[0] & ~outside[0];
  const W blue_holes = others[1] & ~outside[1];
  if (Any(NonZero(red_holes | blue_holes))) [[unlikely]] {
    kingdoms[0] += CountTouchingSets(red_holes);
    kingdoms[1] += CountTouchingSets(blue_holes);
  }
}

// Number of kingdoms of one side.
template <InstructionSet kSet>
TARA_INLINE Word<kSet> CountKingdoms(Word<kSet> hills) {
  const Word<kSet> sides[2] = {hills, Word<kSet>(uint64_t{0})};
  Word<kSet> kingdoms[2];
  CountKingdoms<kSet>(sides, kingdoms);
  return kingdoms[0];
}

// By how many kingdoms Red leads: fewer are better.
template <InstructionSet kSet>
TARA_INLINE Word<kSet> KingdomLead(Word<kSet> red, Word<kSet> blue) {
  const Word<kSet> sides[2] = {red, blue};
  Word<kSet> kingdoms[2];
  CountKingdoms<kSet>(sides, kingdoms);
  return kingdoms[1] - kingdoms[0];
}

// The margin that the rule of two tiers gives the side with the leads, as a
// signed number: by the first lead, or if it is 0 by the second.
template <InstructionSet kSet>
TARA_INLINE Word<kSet> TwoTierMargin(Word<kSet> first_lead,
                                     Word<kSet> second_lead) {
  using W = Word<kSet>;
  const W zero(uint64_t{0});
  const W lead = FirstNonEmpty(first_lead, second_lead);
  return lead + KeepIf(Less(zero, lead), W(2)) - KeepIf(Less(lead, zero), W(2));
}

}  // namespace tara::batch

#endif  // TARA_CORE_BATCH_FORMULAS_H_
