#ifndef TARA_CORE_BOARD_H_
#define TARA_CORE_BOARD_H_

// The board of 45 hills (docs/reference/rules.md section 1) as bitboards.
//
// A Board is a set of hills. Hill (file, rank), both 0..6, is bit
// 9 * rank + file. Two padding bits part the ranks, so that a step of one or
// two files never runs into the next rank: neighbours and knight's moves are
// plain shifts followed by one mask.
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

#if defined(__BMI2__)
#include <immintrin.h>
#endif

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

constexpr HillTables MakeHillTables() {
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
}

inline constexpr HillTables kHillTables = MakeHillTables();

}  // namespace internal

inline constexpr Board kAllHills = internal::kHillTables.all_hills;

constexpr int BitOf(Hill hill) { return internal::kHillTables.bit_of[hill]; }
constexpr int FileOf(Hill hill) { return BitOf(hill) % kRankStride; }
constexpr int RankOf(Hill hill) { return BitOf(hill) / kRankStride; }
constexpr Board BoardOf(Hill hill) { return Board{1} << BitOf(hill); }

// Returns the hill at a bit, or -1 when the bit is no hill.
constexpr Hill HillAtBit(int bit) { return internal::kHillTables.hill_at[bit]; }

// Returns the hill at (file, rank), both 0..6, or -1 for corners and outside.
constexpr Hill HillAt(int file, int rank) {
  return IsHill(file, rank) ? HillAtBit(kRankStride * rank + file) : -1;
}

// Returns the first hill in canonical order. REQUIRES: board != 0.
constexpr Hill FirstHill(Board board) {
  return HillAtBit(std::countr_zero(board));
}
constexpr Board FirstBit(Board board) { return board & (~board + 1); }
constexpr int Count(Board board) { return std::popcount(board); }

// Calls visit(hill) for each hill of the board, in canonical order.
template <typename Visitor>
constexpr void ForEachHill(Board board, Visitor&& visit) {
  for (; board != 0; board &= board - 1) visit(FirstHill(board));
}

// Returns the n-th hill of the board in canonical order.
// REQUIRES: 0 <= n < Count(board).
inline Hill NthHill(Board board, int n) {
#if defined(__BMI2__)
  return FirstHill(_pdep_u64(uint64_t{1} << n, board));
#else
  for (; n > 0; --n) board &= board - 1;
  return FirstHill(board);
#endif
}

// What the formulas below work on: one Board, or many side by side (the lanes
// of tara/core/batch). The set operations and shifts of Board are all it takes.
template <typename Word>
concept BoardWord = std::same_as<Word, Board> || std::is_class_v<Word>;

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

// Returns the hills adjacent to at least one hill of the board.
template <BoardWord Word>
constexpr Word Adjacent(Word board) {
  return ((board << 9) | (board >> 9) | (board << 1) | (board >> 1)) &
         Word(kAllHills);
}

// Returns the hills a knight's move from at least one hill of the board.
template <BoardWord Word>
constexpr Word KnightMoves(Word board) {
  return ((board << 19) | (board >> 19) | (board << 17) | (board >> 17) |
          (board << 11) | (board >> 11) | (board << 7) | (board >> 7)) &
         Word(kAllHills);
}

template <BoardWord Word>
constexpr Word Diagonal(Word board) {
  return ((board << 10) | (board >> 10) | (board << 8) | (board >> 8)) &
         Word(kAllHills);
}

template <BoardWord Word>
constexpr Word TwoStepsStraight(Word board) {
  return ((board << 18) | (board >> 18) | (board << 2) | (board >> 2)) &
         Word(kAllHills);
}

template <BoardWord Word>
constexpr Word TwoStepsDiagonal(Word board) {
  return ((board << 20) | (board >> 20) | (board << 16) | (board >> 16)) &
         Word(kAllHills);
}

// Returns the hills all of whose adjacent hills lie in `besieger`: besieged,
// whether vacant or holding a ringfort (docs/reference/rules.md section 1).
template <BoardWord Word>
constexpr Word Besieged(Word besieger) {
  return Word(kAllHills) & ~Adjacent(Word(kAllHills) & ~besieger);
}

constexpr Board RankBoard(int rank) {
  return kAllHills & (Board{0x7f} << (kRankStride * rank));
}

constexpr Board FileBoard(int file) {
  Board board = 0;
  for (int rank = 0; rank < kBoardSize; ++rank) {
    board |= Board{1} << (kRankStride * rank + file);
  }
  return board & kAllHills;
}

// Number of hill pairs (a, b) of the board that are adjacent.
constexpr int CountAdjacentPairs(Board board) {
  return Count(board & East(board)) + Count(board & North(board));
}

static_assert(Count(kAllHills) == kNumHills);
static_assert(CountAdjacentPairs(kAllHills) == 76);

}  // namespace tara

#endif  // TARA_CORE_BOARD_H_
