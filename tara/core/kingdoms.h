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

#include <array>

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

// Returns the hills and all squares around them, with an edge or a corner in
// common. Bits that leave the board are left in.
constexpr Board Dilated(Board hills) {
  const Board rows = hills | (hills << 1) | (hills >> 1);
  return rows | (rows << kRankStride) | (rows >> kRankStride);
}

// Returns the numbers of connected components of two boards: the same as
// CountComponents of each, three times as fast.
//
// By Euler's formula they are vertices minus edges plus bounded faces: the
// full 2 x 2 squares, and the holes. A hole is a set of other hills, connected
// by edges or corners, from which no such path leads off the board. Most
// boards have none, and then a flood from outside reaches every other hill.
constexpr std::array<int, 2> CountComponentsOfBoth(Board red, Board blue) {
  // Hills that touch the outside, at least with a corner (as B2 does).
  constexpr Board kRim = RankBoard(0) | RankBoard(6) | FileBoard(0) |
                         FileBoard(6) | BoardOf(HillAt(1, 1)) |
                         BoardOf(HillAt(1, 5)) | BoardOf(HillAt(5, 1)) |
                         BoardOf(HillAt(5, 5));
  constexpr int kFloodSteps = 4;
  const std::array<Board, 2> boards = {red, blue};
  std::array<int, 2> components = {};
  for (int i = 0; i < 2; ++i) {
    const Board own = boards[i];
    const Board others = kAllHills & ~own;
    Board outside = others & kRim;
    Unrolled<kFloodSteps>([&](auto) { outside = Dilated(outside) & others; });
    if (outside != others) [[unlikely]] {
      components[i] = CountComponents(own);
      continue;
    }
    const Board pairs_east = own & (own >> 1);
    const Board pairs_north = own & (own >> kRankStride);
    const Board squares = pairs_east & (pairs_east >> kRankStride);
    components[i] =
        Count(own) - Count(pairs_east) - Count(pairs_north) + Count(squares);
  }
  return components;
}

static_assert(CountComponents(0) == 0);
static_assert(CountComponents(kAllHills) == 1);
static_assert(CountComponents(RankBoard(0) | RankBoard(2)) == 2);

}  // namespace tara

#endif  // TARA_CORE_KINGDOMS_H_
