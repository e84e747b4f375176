#ifndef TARA_CORE_RULES_POISONED_CHALICE_H_
#define TARA_CORE_RULES_POISONED_CHALICE_H_

#include "tara/core/bits.h"
#include "tara/core/board.h"
#include "tara/core/rules/turn.h"
#include "tara/core/rules/view.h"
#include "tara/core/state.h"

namespace tara::rules {

// The numbers of bits in the seven squares of each line, in binary: three words
// that hold a binary digit each, at the line's first square. Squares of a line
// lie `kStride` bits apart: 1 for ranks, kRankStride for files. Other bits than
// those at first squares mean nothing.
template <BoardWord W, int kStride>
struct LineCounts {
  W ones, twos, fours;

  // Carry-save addition: squares 0-2 and 3-5 at once, then both and square 6.
  explicit TARA_INLINE LineCounts(W squares) {
    const W second = squares >> kStride, third = squares >> (2 * kStride);
    const W sum = squares ^ second ^ third;
    const W carry = Majority(squares, second, third);
    const W upper_sum = sum >> (3 * kStride);
    const W upper_carry = carry >> (3 * kStride);
    const W last = squares >> (6 * kStride);
    const W last_carry = Majority(sum, upper_sum, last);
    ones = sum ^ upper_sum ^ last;
    twos = carry ^ upper_carry ^ last_carry;
    fours = Majority(carry, upper_carry, last_carry);
  }
};

// Returns the first squares of the lines in which the enemy has a ringfort and
// no fewer than `own`. Corners count for nothing.
template <int kStride, BoardWord W>
TARA_INLINE W QualifiedLines(W own, W enemy) {
  const LineCounts<W, kStride> mine(own), theirs(enemy);
  // Whether own > enemies, from the lowest digit on.
  W more = mine.ones & ~theirs.ones;
  more = (mine.twos & ~theirs.twos) | (more & ~(mine.twos ^ theirs.twos));
  more = (mine.fours & ~theirs.fours) | (more & ~(mine.fours ^ theirs.fours));
  return (theirs.ones | theirs.twos | theirs.fours) & ~more;
}

// Return the squares of the qualified files and ranks.

template <BoardWord W>
TARA_INLINE W QualifiedFiles(W own, W enemy) {
  W lines = QualifiedLines<kRankStride>(own, enemy) & W(Board{0x7f});
  lines |= lines << kRankStride;
  lines |= lines << (2 * kRankStride);
  return lines | (lines << (3 * kRankStride));
}

template <BoardWord W>
TARA_INLINE W QualifiedRanks(W own, W enemy) {
  const W lines = QualifiedLines<1>(own, enemy) & W(kFirstSquares);
  // From each first square on, seven ones.
  return (lines << kBoardSize) - lines;
}

// The same for one board, faster by a fifth of a ply; the simple twins above
// are compared in tests/core/poisoned_chalice_test.cc. All seven lines are
// counted at once, in fields of a word. A line has o own ringforts and 7 - e
// squares without an enemy ringfort (corners count as squares): their sum, 0 to
// 14, has bit 3 set exactly if o > e.

// Returns the squares whose files are the set bits of `files`, in each rank.
constexpr Board InEachRank(Board files) { return files * kFirstSquares; }

inline Board QualifiedFiles(Board own, Board enemy) {
  constexpr int kLastRank = kRankStride * (kBoardSize - 1);
  const Board not_enemy = ~enemy;
  // Multiplying by kFirstSquares adds the ranks up in the last one. Fields are
  // 4 bits wide, from a file's bit on: files A and E, B and F, C and G, D.
  Board more_own = 0;
  Unrolled<4>([&](auto file) {
    constexpr Board kPair = Board{file < 3 ? 0x11 : 0x1} << file;
    constexpr Board kFiles = InEachRank(kPair);
    const Board sums = ((own & kFiles) + (not_enemy & kFiles)) * kFirstSquares;
    more_own |= sums & (kPair << (kLastRank + 3));
  });
  Board enemies = enemy | (enemy >> (4 * kRankStride));
  enemies |= enemies >> (2 * kRankStride);
  enemies |= enemies >> kRankStride;
  const Board files = enemies & 0x7f & ~(more_own >> (kLastRank + 3));
  return files * kFirstSquares;
}

inline Board QualifiedRanks(Board own, Board enemy) {
  constexpr Board kSquares = InEachRank(0x7f);
  constexpr Board kEvenFiles = InEachRank(0x55);
  constexpr Board kPairs = InEachRank(0x33);
  constexpr Board kQuads = InEachRank(0xf);
  // Fields of 2 bits, of 4, then one of 4 at each rank's first bits.
  const Board own2 = (own & kEvenFiles) + ((own >> 1) & kEvenFiles);
  const Board not_enemy = kSquares & ~enemy;
  const Board not_enemy2 =
      (not_enemy & kEvenFiles) + ((not_enemy >> 1) & kEvenFiles);
  const Board sums4 = (own2 & kPairs) + ((own2 >> 2) & kPairs) +
                      (not_enemy2 & kPairs) + ((not_enemy2 >> 2) & kPairs);
  const Board sums = (sums4 & kQuads) + ((sums4 >> 4) & kQuads);
  // Adding 0x7f carries into bit 7 of every rank that is not empty.
  const Board enemies = (enemy + kSquares) >> kBoardSize;
  const Board ranks = enemies & ~(sums >> 3) & kFirstSquares;
  return ranks * 0x7f;
}

// Poisoned Chalice (docs/reference/rules.md section 8.1).
struct PoisonedChalice : HillTurns<PoisonedChalice> {
  static constexpr FamilyTraits kTraits = {.phases = Bit(Phase::kManoeuvres) |
                                                     Bit(Phase::kBattle) |
                                                     Bit(Phase::kFinished),
                                           .endings = Bit(Ending::kOut),
                                           .pending_endings = Bit(Ending::kOut),
                                           .rows_by_side = true};
  static constexpr int kSeats = 2;
  static constexpr bool kHasManoeuvres = true;
  static constexpr int kManoeuvresTurns = 8;

  // One ringfort of each side on each edge, none opposite another.
  template <BoardWord W>
  static TARA_INLINE W ManoeuvresTargets(const BoardView<W>& view) {
    constexpr Board kEdges[] = {RankBoard(0), RankBoard(6), FileBoard(0),
                                FileBoard(6)};
    constexpr int kSouthToNorth = kRankStride * (kBoardSize - 1);
    constexpr int kWestToEast = kBoardSize - 1;
    const W built = view.own | view.enemy;
    W targets = {};
    for (const Board edge : kEdges) {
      targets |= KeepIf(IsZero(view.own & W(edge)), W(edge));
    }
    const W opposite = ((built & W(kEdges[0])) << kSouthToNorth) |
                       ((built & W(kEdges[1])) >> kSouthToNorth) |
                       ((built & W(kEdges[2])) << kWestToEast) |
                       ((built & W(kEdges[3])) >> kWestToEast);
    return targets & ~built & ~opposite;
  }

  template <BoardWord W>
  static TARA_INLINE MaskOf<W> ManoeuvresOver(W, const BoardView<W>& view) {
    return !Less(Count(view.own | view.enemy), NumberOf<W>(kManoeuvresTurns));
  }

  // The hills of the qualified rows of the side to move, vacant or not: Red's
  // rows are the files, Blue's the ranks.
  template <BoardWord W>
  static TARA_INLINE W QualifiedRows(const BoardView<W>& view) {
    return view.side() == kRed ? QualifiedFiles(view.own, view.enemy)
                               : QualifiedRanks(view.own, view.enemy);
  }

  template <BoardWord W>
  static TARA_INLINE W BattleTargets(const BoardView<W>& view) {
    const W vacant = view.vacant();
    return FirstNonEmpty(
        vacant & QualifiedRows(view),
        FirstNonEmpty(BesiegedIn(view.enemy, view.own), vacant));
  }
};

}  // namespace tara::rules

#endif  // TARA_CORE_RULES_POISONED_CHALICE_H_
