#ifndef TARA_CORE_OUTCOME_H_
#define TARA_CORE_OUTCOME_H_

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

#include "absl/strings/string_view.h"
#include "tara/core/bits.h"
#include "tara/core/board.h"
#include "tara/core/state.h"

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

// A supply of bridges: more adjacent pairs than this count as this many.
inline constexpr int kMaxBridges = 40;

// No margin is larger: points are at most 2 for the lead plus 45 for as many
// ringforts (docs/reference/rules.md sections 2, 6 and 7).
inline constexpr int kMaxMargin = 47;

// Margins there are, from -kMaxMargin to kMaxMargin: margin m has index
// m + kMaxMargin in tables over them.
inline constexpr int kNumMargins = 2 * kMaxMargin + 1;

// How a game stands when it ends. Arrays are by side, Red first.
struct Outcome {
  std::array<int, 2> points;
  std::array<int, 2> kingdoms;
  std::array<int, 2> territory;
  std::array<int, 2> bridges;
  std::array<int, 2> kings_captured;  // enemy kings, by the capturing side
  Ending ended_by;

  // Points of Red minus points of Blue.
  int margin() const { return points[kRed] - points[kBlue]; }
  // Returns the side with more points, or -1 for a draw.
  int winner() const {
    return margin() == 0 ? -1 : (margin() > 0 ? kRed : kBlue);
  }

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

// Scores the position as if the game ended as it stands
// (docs/reference/rules.md sections 2, 6, 7). Of a finished game this is its
// result.
Outcome Score(const State& state);

// The same where the kingdoms of the sides are counted already.
Outcome Score(const State& state, int red_kingdoms, int blue_kingdoms);

// Counts the kingdoms of a side: connected components, by adjacency, or in
// Stone of Destiny by links.
int CountKingdoms(const State& state, Side side);

// Returns "out", "double_capture", "passed", "board_full", "no_progress", or
// "-" for Ending::kNone.
absl::string_view EndingName(Ending ending);

// Returns "placement", "manoeuvres", "battle", "link" or "finished".
absl::string_view PhaseName(Phase phase);

}  // namespace tara

#endif  // TARA_CORE_OUTCOME_H_
