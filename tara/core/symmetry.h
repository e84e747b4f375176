#ifndef TARA_CORE_SYMMETRY_H_
#define TARA_CORE_SYMMETRY_H_

// The symmetries that keep the rules (docs/rules.md section 11): for data
// augmentation, for tests, and for showing every seat the board as its own.
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

namespace internal {

constexpr std::array<std::array<uint8_t, kNumHills>, kNumBoardTransforms>
MakeHillTransforms() {
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
}

}  // namespace internal

// [board transform, hill]: where the transform takes the hill.
inline constexpr std::array<std::array<uint8_t, kNumHills>, kNumBoardTransforms>
    kHillTransforms = internal::MakeHillTransforms();

// [board transform, action index]: the index of the transformed action.
extern const std::array<std::array<uint16_t, kNumActions>, kNumBoardTransforms>
    kActionTransforms;

constexpr Hill TransformHill(int board_transform, Hill hill) {
  return kHillTransforms[board_transform][hill];
}

// Cost: a loop over the hills of the board.
constexpr Board TransformBoard(int board_transform, Board board) {
  Board result = 0;
  ForEachHill(board, [&](Hill hill) {
    result |= BoardOf(TransformHill(board_transform, hill));
  });
  return result;
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

}  // namespace tara

#endif  // TARA_CORE_SYMMETRY_H_
