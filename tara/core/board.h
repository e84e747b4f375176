#ifndef TARA_CORE_BOARD_H_
#define TARA_CORE_BOARD_H_

// The board of 45 hills (docs/reference/rules.md section 1) as bitboards.
//
// Hill (file, rank), both 0..6, is bit 9 * rank + file. Two padding bits part
// the ranks, so that a step of one or two files never runs into the next rank:
// neighbours and knight's moves are plain shifts followed by one mask.
//
//            A  B  C  D  E  F  G  pad
//   rank 7   .  55 56 57 58 59 .        bits of rank 7
//   rank 6   45 46 47 48 49 50 51
//   ...
//   rank 2   9  10 11 12 13 14 15 16 17
//   rank 1   .  1  2  3  4  5  .  7  8
//
// Bits in increasing order are the hills in canonical order.

#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "tara/core/bits.h"

// Formulas that are compiled for lanes of boards too: see BoardWord below.
#define TARA_INLINE __attribute__((always_inline)) inline

namespace tara {

// A set of hills; see the layout above. Bits outside kAllHills are zero.
using Board = uint64_t;

// Canonical index of a hill, 0 (B1) to 44 (F7).
using Hill = int;
inline constexpr int kNumHills = 45;
inline constexpr int kBoardSize = 7;
inline constexpr int kRankStride = 9;

// A side: 0 Red, 1 Blue.
using Side = int;
inline constexpr Side kRed = 0;
inline constexpr Side kBlue = 1;
constexpr Side Opponent(Side side) { return side ^ 1; }

constexpr bool IsHill(int file, int rank) {
  const bool on_grid =
      file >= 0 && file < kBoardSize && rank >= 0 && rank < kBoardSize;
  const bool corner = (file == 0 || file == 6) && (rank == 0 || rank == 6);
  return on_grid && !corner;
}

namespace internal {

struct HillTables {
  Board all_hills = 0;
  std::array<int8_t, kNumHills> bit_of{};  // hill -> bit
  std::array<int8_t, 64> hill_at{};        // bit -> hill, or -1
};

inline constexpr HillTables kHillTables = [] {
  HillTables tables;
  tables.hill_at.fill(-1);
  int hill = 0;
  for (int rank = 0; rank < kBoardSize; ++rank) {
    for (int file = 0; file < kBoardSize; ++file) {
      if (!IsHill(file, rank)) continue;
      const int bit = kRankStride * rank + file;
      tables.all_hills |= Board{1} << bit;
      tables.bit_of[hill] = static_cast<int8_t>(bit);
      tables.hill_at[bit] = static_cast<int8_t>(hill);
      ++hill;
    }
  }
  return tables;
}();

}  // namespace internal

inline constexpr Board kAllHills = internal::kHillTables.all_hills;

constexpr int BitOf(Hill hill) { return internal::kHillTables.bit_of[hill]; }
constexpr int FileOf(Hill hill) { return BitOf(hill) % kRankStride; }
constexpr int RankOf(Hill hill) { return BitOf(hill) / kRankStride; }
constexpr Board BoardOf(Hill hill) { return Board{1} << BitOf(hill); }

// Returns the hill at a bit, or -1 for a bit off the board.
constexpr Hill HillAtBit(int bit) { return internal::kHillTables.hill_at[bit]; }

// Returns the hill at (file, rank), both 0..6, or -1 for corners and outside.
constexpr Hill HillAt(int file, int rank) {
  return IsHill(file, rank) ? HillAtBit(kRankStride * rank + file) : -1;
}

// Returns the first hill in canonical order. REQUIRES: board != 0.
constexpr Hill FirstHill(Board board) {
  return HillAtBit(std::countr_zero(board));
}
constexpr int Count(Board board) { return std::popcount(board); }

// Calls visit(hill) for each hill of the board, in canonical order.
template <typename Visitor>
constexpr void ForEachHill(Board board, Visitor&& visit) {
  for (; board != 0; board &= board - 1) visit(FirstHill(board));
}

// Returns the n-th hill of the board in canonical order.
// REQUIRES: 0 <= n < Count(board).
inline Hill NthHill(Board board, int n) { return FirstHill(NthBit(board, n)); }

// What formulas of boards work on: one Board, or many side by side (the lanes
// of tara/core/batch/lanes.h, which has the functions below for them, too).
template <typename Word>
concept BoardWord = std::same_as<Word, Board> || std::is_class_v<Word>;

template <std::integral Number>
constexpr bool IsZero(Number a) {
  return a == 0;
}
template <std::integral Number>
constexpr bool NonZero(Number a) {
  return a != 0;
}
template <std::integral Number>
constexpr bool Less(Number a, Number b) {
  return a < b;
}
template <std::integral Number>
constexpr bool Equal(Number a, Number b) {
  return a == b;
}
// Returns a where the mask is set, else b; or else 0.
template <std::integral Number>
constexpr Number Select(bool mask, Number a, Number b) {
  return mask ? a : b;
}
template <std::integral Number>
constexpr Number KeepIf(bool mask, Number a) {
  return mask ? a : 0;
}
// Whether the mask is set anywhere.
constexpr bool Any(bool mask) { return mask; }

// A count for each board, as int or as lanes; and a truth for each, as bool or
// as a mask of lanes, with the operators & | ! in common.
template <BoardWord Word>
using NumberOf = decltype(Count(Word()));
template <BoardWord Word>
using MaskOf = decltype(NonZero(Word()));

// Returns the first hill in canonical order, as a board; nothing of nothing.
template <BoardWord Word>
constexpr Word FirstBit(Word board) {
  return board & (Word{} - board);
}

// Bits that are set in at least two of three.
template <BoardWord Word>
constexpr Word Majority(Word a, Word b, Word c) {
  return (a & b) | (c & (a | b));
}

template <BoardWord Word>
constexpr Word North(Word board) {
  return (board << 9) & Word(kAllHills);
}
template <BoardWord Word>
constexpr Word South(Word board) {
  return (board >> 9) & Word(kAllHills);
}
template <BoardWord Word>
constexpr Word East(Word board) {
  return (board << 1) & Word(kAllHills);
}
template <BoardWord Word>
constexpr Word West(Word board) {
  return (board >> 1) & Word(kAllHills);
}

// Returns the hills adjacent to at least one hill of the board, and perhaps
// bits off the board. Callers mask the result with a set of hills.
template <BoardWord Word>
constexpr Word Beside(Word board) {
  return (board << 9) | (board >> 9) | (board << 1) | (board >> 1);
}

// Returns the hills adjacent to at least one hill of the board.
template <BoardWord Word>
constexpr Word Adjacent(Word board) {
  return Beside(board) & Word(kAllHills);
}

// Returns the hills a knight's move from at least one hill of the board.
template <BoardWord Word>
constexpr Word KnightMoves(Word board) {
  const Word one_file = (board << 1) | (board >> 1);
  const Word two_files = (board << 2) | (board >> 2);
  return ((one_file << 18) | (one_file >> 18) | (two_files << 9) |
          (two_files >> 9)) &
         Word(kAllHills);
}

template <BoardWord Word>
constexpr Word Diagonal(Word board) {
  return ((board << 10) | (board >> 10) | (board << 8) | (board >> 8)) &
         Word(kAllHills);
}

// Returns the hills and all squares around them, with an edge or a corner in
// common, and perhaps bits off the board.
template <BoardWord Word>
constexpr Word Dilated(Word hills) {
  const Word rows = hills | ((hills << 1) | (hills >> 1));
  return rows | (rows << 9) | (rows >> 9);
}

template <BoardWord Word>
constexpr Word TwoStepsStraight(Word board) {
  return (((board << 2) | (board >> 2)) | (board << 18) | (board >> 18)) &
         Word(kAllHills);
}

template <BoardWord Word>
constexpr Word TwoStepsDiagonal(Word board) {
  return ((board << 20) | (board >> 20) | (board << 16) | (board >> 16)) &
         Word(kAllHills);
}

// Returns those of `hills`, vacant or not, whose adjacent hills all lie in
// `besieger` (docs/reference/rules.md section 1).
template <BoardWord Word>
constexpr Word BesiegedIn(Word hills, Word besieger) {
  return hills & ~Beside(Word(kAllHills) & ~besieger);
}

// The same, for lanes where Beside(besieger) is needed too: the same shifts.
template <BoardWord Word>
constexpr Word BesiegedInByShifts(Word hills, Word besieger) {
  if constexpr (std::same_as<Word, Board>) return BesiegedIn(hills, besieger);
  // A hill whose southern neighbour is the besieger's is in `besieger << 9`;
  // one that has none there needs none.
  constexpr Board kNoSouth = kAllHills & ~North(kAllHills);
  constexpr Board kNoNorth = kAllHills & ~South(kAllHills);
  constexpr Board kNoWest = kAllHills & ~East(kAllHills);
  constexpr Board kNoEast = kAllHills & ~West(kAllHills);
  return hills & ((besieger << 9) | Word(kNoSouth)) &
         ((besieger >> 9) | Word(kNoNorth)) &
         ((besieger << 1) | Word(kNoWest)) & ((besieger >> 1) | Word(kNoEast));
}

template <BoardWord Word>
constexpr Word Besieged(Word besieger) {
  return BesiegedIn(Word(kAllHills), besieger);
}

// Returns KnightMoves(king), and perhaps bits off the board, of one hill or
// none. Some lanes have a faster form (tara/core/batch/avx512_forms.h).
template <BoardWord Word>
constexpr Word KnightMovesOfOne(Word king) {
  return KnightMoves(king);
}

// Returns the hills one or two steps along a file, rank or diagonal from one
// hill or none, and perhaps bits off the board. As KnightMovesOfOne.
template <BoardWord Word>
constexpr Word WithinTwoStepsOfOne(Word king) {
  return Adjacent(king) | Diagonal(king) | TwoStepsStraight(king) |
         TwoStepsDiagonal(king);
}

constexpr Board RankBoard(int rank) {
  return kAllHills & (Board{0x7f} << (kRankStride * rank));
}

// The first squares of the ranks: bits 0, 9, ..., 54.
inline constexpr Board kFirstSquares = 0x0040201008040201;

constexpr Board FileBoard(int file) {
  return kAllHills & (kFirstSquares << file);
}

// Number of hill pairs (a, b) of the board that are adjacent.
template <BoardWord Word>
constexpr NumberOf<Word> CountAdjacentPairs(Word board) {
  return Count(board & (board << 1)) + Count(board & (board << 9));
}

static_assert(Count(kAllHills) == kNumHills);
static_assert(CountAdjacentPairs(kAllHills) == 76);

}  // namespace tara

#endif  // TARA_CORE_BOARD_H_
