#ifndef TARA_CORE_RULES_POISONED_CHALICE_H_
#define TARA_CORE_RULES_POISONED_CHALICE_H_

#include "tara/core/rules/turn.h"
#include "tara/core/rules/view.h"
#include "tara/core/state.h"

namespace tara::rules {

// Returns the squares whose files are the set bits of `files`, in each rank.
constexpr Board InEachRank(Board files) {
  Board board = 0;
  for (int rank = 0; rank < kBoardSize; ++rank) {
    board |= files << (kRankStride * rank);
  }
  return board;
}

// Poisoned Chalice (docs/reference/rules.md section 8.1).
struct PoisonedChalice : HillTurns<PoisonedChalice> {
  static constexpr int kSeats = 2;
  static constexpr bool kHasManoeuvres = true;
  static constexpr int kManoeuvresTurns = 8;

  static bool ManoeuvresOver(const View& view) {
    return Count(view.vacant()) <= kNumHills - kManoeuvresTurns;
  }

  // One ringfort of each side on each edge, none opposite another.
  static Board ManoeuvresTargets(const View& view) {
    if (ManoeuvresOver(view)) return 0;
    constexpr Board kEdges[] = {RankBoard(0), RankBoard(6), FileBoard(0),
                                FileBoard(6)};
    constexpr int kSouthToNorth = kRankStride * (kBoardSize - 1);
    constexpr int kWestToEast = kBoardSize - 1;
    const Board built = view.own | view.enemy;
    Board targets = 0;
    for (const Board edge : kEdges) {
      targets |= (view.own & edge) == 0 ? edge : 0;
    }
    const Board opposite = ((built & RankBoard(0)) << kSouthToNorth) |
                           ((built & RankBoard(6)) >> kSouthToNorth) |
                           ((built & FileBoard(0)) << kWestToEast) |
                           ((built & FileBoard(6)) >> kWestToEast);
    return targets & ~built & ~opposite;
  }

  // The hills of the qualified rows of the side to move, but for vacancy:
  // Red's rows are the files, Blue's the ranks.
  static Board QualifiedRows(const View& view) {
    return view.side() == kRed ? QualifiedFiles(view.own, view.enemy)
                               : QualifiedRanks(view.own, view.enemy);
  }

  static Board BattleTargets(const View& view) {
    const Board vacant = view.vacant();
    return FirstNonEmpty(vacant & QualifiedRows(view),
                         FirstNonEmpty(BesiegedEnemies(view), vacant));
  }

 private:
  // Files and ranks in which the enemy has a ringfort and no fewer than `own`.
  //
  // All seven rows are counted at once, in fields of a word. A row has o own
  // ringforts and 7 - e squares without an enemy ringfort (corners count as
  // squares): their sum, 0 to 14, has bit 3 set exactly if o > e.

  static Board QualifiedFiles(Board own, Board enemy) {
    constexpr Board kFileA = InEachRank(1);
    constexpr int kLastRank = kRankStride * (kBoardSize - 1);
    const Board not_enemy = ~enemy;
    // Multiplying by kFileA adds the ranks up in the last one. Fields are 4
    // bits wide, from a file's bit on: files A and E, B and F, C and G, D.
    Board more_own = 0;
    Unrolled<4>([&](auto file) {
      constexpr Board kPair = Board{file < 3 ? 0x11 : 0x1} << file;
      constexpr Board kFiles = InEachRank(kPair);
      const Board sums = ((own & kFiles) + (not_enemy & kFiles)) * kFileA;
      more_own |= sums & (kPair << (kLastRank + 3));
    });
    Board enemies = enemy | (enemy >> (4 * kRankStride));
    enemies |= enemies >> (2 * kRankStride);
    enemies |= enemies >> kRankStride;
    const Board files = enemies & 0x7f & ~(more_own >> (kLastRank + 3));
    return files * kFileA;
  }

  static Board QualifiedRanks(Board own, Board enemy) {
    constexpr Board kFileA = InEachRank(1);
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
    const Board ranks = enemies & ~(sums >> 3) & kFileA;
    return ranks * 0x7f;
  }

  static constexpr Board kSquares = InEachRank(0x7f);
};

}  // namespace tara::rules

#endif  // TARA_CORE_RULES_POISONED_CHALICE_H_
