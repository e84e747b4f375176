#ifndef TARA_CORE_KINGDOMS_H_
#define TARA_CORE_KINGDOMS_H_

// Counting connected components without a loop that depends on the board.
//
// All components shrink at once towards A1, one step at a time, without
// parting or meeting, until each is one cell, and then nothing. A cell of the
// next board is set where
//
//     (cell and (east or north)) or (east and north and north-east)
//
// of this one. Such a step keeps 4-connected components apart and whole, but
// for cells without neighbours, which vanish: those are counted. It empties
// the diagonal file + rank = max, so that after kShrinkSteps all is empty.
// Source: Levialdi 1972, "On shrinking binary picture patterns" (there for
// 8-connected components; this is its twin for 4-connected ones).
//
// Cells are the 7 x 7 squares, corners included: a component may pass through
// A1 on its way. Padding bits stay zero.

#include "tara/core/bits.h"
#include "tara/core/board.h"

namespace tara {

// file + rank is at most 11 on hills (G6, F7), then one less at each step.
inline constexpr int kShrinkSteps = 12;

template <typename Word>
constexpr Word Shrunk(Word cells) {
  const Word east = cells >> 1;
  const Word north = cells >> kRankStride;
  const Word northeast = cells >> (kRankStride + 1);
  return (cells & (east | north)) | (east & north & northeast);
}

// Returns the cells that have no neighbour in `cells`.
template <typename Word>
constexpr Word Isolated(Word cells) {
  return cells & ~((cells >> 1) | (cells << 1) | (cells >> kRankStride) |
                   (cells << kRankStride));
}

// Returns the number of connected components, by adjacency. Some 200
// instructions, no branches.
constexpr int CountComponents(Board hills) {
  int components = 0;
  Unrolled<kShrinkSteps>([&](auto) {
    components += Count(Isolated(hills));
    hills = Shrunk(hills);
  });
  return components;
}

static_assert(CountComponents(0) == 0);
static_assert(CountComponents(kAllHills) == 1);
static_assert(CountComponents(RankBoard(0) | RankBoard(2)) == 2);

}  // namespace tara

#endif  // TARA_CORE_KINGDOMS_H_
