#ifndef TARA_CORE_SYMMETRY_H_
#define TARA_CORE_SYMMETRY_H_

// The symmetries that keep the rules (docs/reference/rules.md section 11): for
// data augmentation, for tests, and for showing every seat the board as its
// own.
//
// A board transform is a number of three bits, applied in this order:
//
//   4  transpose: files and ranks change places (the diagonal A1-G7 stays)
//   1  the files are flipped, west to east
//   2  the ranks are flipped, south to north
//
// so 3 is the half turn, 6 the clockwise quarter turn (South to West to North
// to East) and 5 the other quarter turn.

#include <array>
#include <cstdint>
#include <utility>

#include "absl/types/span.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"

namespace tara {

inline constexpr int kNumBoardTransforms = 8;
inline constexpr int kIdentityTransform = 0;
inline constexpr int kHalfTurn = 3;
inline constexpr int kTranspose = 4;
inline constexpr int kAnticlockwiseTurn = 5;
inline constexpr int kClockwiseTurn = 6;

// A symmetry: hills go where the board transform takes them, and what belongs
// to seat s goes to seat s + seat_shift, modulo the number of seats. An odd
// shift swaps the colours.
struct Symmetry {
  uint8_t board;       // 0 to 7
  uint8_t seat_shift;  // 0 to 3

  friend bool operator==(const Symmetry&, const Symmetry&) = default;
};

// [board transform, hill]: where the transform takes the hill.
inline constexpr auto kHillTransforms = [] {
  std::array<std::array<uint8_t, kNumHills>, kNumBoardTransforms> table{};
  for (int transform = 0; transform < kNumBoardTransforms; ++transform) {
    for (Hill hill = 0; hill < kNumHills; ++hill) {
      int file = FileOf(hill);
      int rank = RankOf(hill);
      if ((transform & 4) != 0) std::swap(file, rank);
      if ((transform & 1) != 0) file = kBoardSize - 1 - file;
      if ((transform & 2) != 0) rank = kBoardSize - 1 - rank;
      table[transform][hill] = static_cast<uint8_t>(HillAt(file, rank));
    }
  }
  return table;
}();

// [board transform, action index]: the index of the transformed action.
extern const std::array<std::array<uint16_t, kNumActions>, kNumBoardTransforms>
    kActionTransforms;

constexpr Hill TransformHill(int board_transform, Hill hill) {
  return kHillTransforms[board_transform][hill];
}

// Returns the board with its files flipped, west to east.
constexpr Board FlipFiles(Board board) {
  constexpr Board a = FileBoard(0), b = FileBoard(1), c = FileBoard(2);
  return ((board & a) << 6) | ((board & b) << 4) | ((board & c) << 2) |
         (board & FileBoard(3)) | ((board >> 2) & c) | ((board >> 4) & b) |
         ((board >> 6) & a);
}

// Returns the board with its ranks flipped, south to north.
constexpr Board FlipRanks(Board board) {
  constexpr Board r1 = RankBoard(0), r2 = RankBoard(1), r3 = RankBoard(2);
  return ((board & r1) << 54) | ((board & r2) << 36) | ((board & r3) << 18) |
         (board & RankBoard(3)) | ((board >> 18) & r3) | ((board >> 36) & r2) |
         ((board >> 54) & r1);
}

namespace internal {

// The hills whose file is `distance` more than their rank.
constexpr Board DiagonalBoard(int distance) {
  Board board = 0;
  for (int rank = 0; rank < kBoardSize; ++rank) {
    const Hill hill = HillAt(rank + distance, rank);
    if (hill >= 0) board |= BoardOf(hill);
  }
  return board;
}

// Moves one diagonal and its mirror image to each other's place: file and
// rank exchanged is a step of 8 bits for each file that they are apart.
template <int kDistance>
constexpr Board ExchangeDiagonals(Board board) {
  constexpr Board lower = DiagonalBoard(kDistance);
  constexpr int shift = (kRankStride - 1) * kDistance;
  return ((board & lower) << shift) | ((board >> shift) & lower);
}

}  // namespace internal

// Returns the board with files and ranks exchanged.
constexpr Board Transpose(Board board) {
  return (board & internal::DiagonalBoard(0)) |
         internal::ExchangeDiagonals<1>(board) |
         internal::ExchangeDiagonals<2>(board) |
         internal::ExchangeDiagonals<3>(board) |
         internal::ExchangeDiagonals<4>(board) |
         internal::ExchangeDiagonals<5>(board);
}

// Cost: 13 operations for a flip, 35 to transpose.
constexpr Board TransformBoard(int board_transform, Board board) {
  if ((board_transform & kTranspose) != 0) board = Transpose(board);
  if ((board_transform & 1) != 0) board = FlipFiles(board);
  if ((board_transform & 2) != 0) board = FlipRanks(board);
  return board;
}

// Returns where the transform takes the pairs. The hill that names a pair may
// become its eastern or northern hill: the other one names it then.
constexpr HillPairs TransformPairs(int board_transform, HillPairs pairs) {
  if ((pairs.east | pairs.north) == 0) return pairs;
  if ((board_transform & kTranspose) != 0) {
    pairs = {.east = Transpose(pairs.north), .north = Transpose(pairs.east)};
  }
  if ((board_transform & 1) != 0) {
    pairs = {.east = FlipFiles(pairs.east) >> 1,
             .north = FlipFiles(pairs.north)};
  }
  if ((board_transform & 2) != 0) {
    pairs = {.east = FlipRanks(pairs.east),
             .north = FlipRanks(pairs.north) >> kRankStride};
  }
  return pairs;
}

inline Action TransformAction(const Symmetry& symmetry, Action action) {
  return static_cast<Action>(kActionTransforms[symmetry.board][Index(action)]);
}

// Returns the position seen through the symmetry. A finished position has no
// seat to move: its seat stays 0.
State TransformState(const Symmetry& symmetry, const State& state);

// Returns the symmetry that undoes this one. Its shift is that of four seats,
// which, modulo two, is also right for two.
Symmetry Inverse(const Symmetry& symmetry);

// Returns the symmetries that map games to games: the first seat stays the
// first. The identity comes first.
absl::Span<const Symmetry> GameSymmetries(Variant variant);

// Returns all symmetries that map positions to positions (a position's seat to
// move may be any). The identity comes first.
absl::Span<const Symmetry> PositionSymmetries(Variant variant);

// Returns the symmetry that takes the seat to move to seat 0, as networks see
// every position: singles with the colours swapped if Blue is to move (Poisoned
// Chalice with the board transposed then), doubles with the board turned so
// that the seat to move is South. Of a finished position: the identity.
Symmetry CanonicalSymmetry(const State& state);

// Returns a symmetry that takes the position to the representative of all that
// are symmetric to it: of those with seat 0 to move, the one whose boards are
// the least numbers (compared in turn: ringforts of the side to move, of its
// opponent, kings of both, links). So positions are symmetric if and only if
// their representatives are equal. Of several such symmetries, the first in the
// order of PositionSymmetries; of a representative itself, the identity. Cost:
// about 30 ns, less in doubles. REQUIRES: the position is not finished.
Symmetry RepresentativeSymmetry(const State& state);

}  // namespace tara

#endif  // TARA_CORE_SYMMETRY_H_
