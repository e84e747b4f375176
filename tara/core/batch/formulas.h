#ifndef TARA_CORE_BATCH_FORMULAS_H_
#define TARA_CORE_BATCH_FORMULAS_H_

// Formulas over boards that families share in lanes.

#include "tara/core/batch/lanes.h"
#include "tara/core/board.h"

namespace tara::batch {

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
  return Select(NonZero(a), a, b);
}

// Number of adjacent pairs in the set.
template <InstructionSet kSet>
TARA_INLINE Word<kSet> AdjacentPairs(Word<kSet> hills) {
  return PopCount(hills & (hills << 1)) + PopCount(hills & (hills << 9));
}

// Number of kingdoms: connected components by adjacency.
//
// By Euler's formula they are vertices minus edges plus bounded faces: the
// full 2 x 2 squares, and the holes. A hole is a set of other cells, linked by
// edges or corners, out of which no such path leads off the board. Holes are
// rare; most often one flood from outside shows that there are none.
template <InstructionSet kSet>
TARA_INLINE Word<kSet> CountKingdoms(Word<kSet> hills) {
  using W = Word<kSet>;
  // Hills that touch the outside, at least with a corner (as B2 does).
  constexpr Board kCorner = BoardOf(HillAt(1, 1)) | BoardOf(HillAt(1, 5)) |
                            BoardOf(HillAt(5, 1)) | BoardOf(HillAt(5, 5));
  constexpr Board kRim =
      RankBoard(0) | RankBoard(6) | FileBoard(0) | FileBoard(6) | kCorner;
  const W square = hills & (hills >> 1) & (hills >> 9) & (hills >> 10);
  W kingdoms = PopCount(hills) + PopCount(square) - AdjacentPairs(hills);
  const auto dilated = [](W cells) {
    const W row = cells | (cells << 1) | (cells >> 1);
    return row | (row << 9) | (row >> 9);
  };
  const W others = W(kAllHills) & ~hills;
  W outside = others & W(kRim);
  while (true) {
    const W grown = dilated(outside) & others;
    if (!Any(NonZero(grown ^ outside))) break;
    outside = grown;
  }
  W enclosed = others & ~outside;
  while (Any(NonZero(enclosed))) [[unlikely]] {
      // One hole of each lane at a time.
      kingdoms += KeepIf(NonZero(enclosed), W(1));
      W hole = LowestBit(enclosed);
      while (true) {
        const W grown = dilated(hole) & enclosed;
        if (!Any(NonZero(grown ^ hole))) break;
        hole = grown;
      }
      enclosed &= ~hole;
    }
  return kingdoms;
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
