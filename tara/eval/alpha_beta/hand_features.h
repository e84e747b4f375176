#ifndef TARA_EVAL_ALPHA_BETA_HAND_FEATURES_H_
#define TARA_EVAL_ALPHA_BETA_HAND_FEATURES_H_

// The boards that the features of the hand-made evaluation are counted on.

#include <array>
#include <cstdint>
#include <cstring>

#include "tara/core/bits.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/rules/sacred_hill.h"
#include "tara/core/state.h"

namespace tara::eval::hand_features {

// A position as one side sees it.
struct SideView {
  Board own;    // ringforts
  Board enemy;  // ringforts that stay the enemy's unless captured
  Board open;   // hills that may yet become own: vacant ones, and in Stone of
                // Destiny's Battle those of the enemy that can be swapped
  Board own_kings;
  Board enemy_kings;
  Board own_linked;  // own ringforts that have a link (Stone of Destiny)
  Board qualified;   // vacant hills of qualified rows (Poisoned Chalice)
  int kings_captured;
  Phase phase;
};

// Hills with at least one, two, ... adjacent hills in a board.
struct Neighbours {
  Board one, two, three, four;
};
constexpr Neighbours NeighboursIn(Board board) {
  const Board n = board << kRankStride, s = board >> kRankStride;
  const Board e = board << 1, w = board >> 1;
  const Board both_ns = n & s, any_ns = n | s;
  const Board both_ew = e & w, any_ew = e | w;
  return {.one = (any_ns | any_ew) & kAllHills,
          .two = (both_ns | both_ew | (any_ns & any_ew)) & kAllHills,
          .three = ((both_ns & any_ew) | (both_ew & any_ns)) & kAllHills,
          .four = both_ns & both_ew & kAllHills};
}

// The four hills of each 2 x 2 square of hills, each at the bit of the
// square's south-western hill.
struct Squares {
  Board southwest, southeast, northwest, northeast;

  explicit constexpr Squares(Board board)
      : southwest(board & kWhole),
        southeast((board >> 1) & kWhole),
        northwest((board >> kRankStride) & kWhole),
        northeast((board >> (kRankStride + 1)) & kWhole) {}

  static constexpr Board kWhole = kAllHills & (kAllHills >> 1) &
                                  (kAllHills >> kRankStride) &
                                  (kAllHills >> (kRankStride + 1));
};

inline Board Singles(const SideView& view) {
  return view.own & ~Adjacent(view.own);
}

// Squares with three own ringforts whose fourth hill is in `fourth`.
inline int SquaresOfThree(Board own_board, Board fourth) {
  const Squares own(own_board), other(fourth);
  const Board south = own.southwest & own.southeast;
  const Board north = own.northwest & own.northeast;
  return Count((south & ((own.northwest & other.northeast) |
                         (own.northeast & other.northwest))) |
               (north & ((own.southwest & other.southeast) |
                         (own.southeast & other.southwest))));
}

// Squares with two own ringforts on a diagonal and `one`, `other` (in either
// order) on the other diagonal. Each square counts once.
inline int DiagonalPairs(Board own_board, Board one_board, Board other_board) {
  const Squares own(own_board), one(one_board), other(other_board);
  const Board rising =
      own.southwest & own.northeast &
      ((one.northwest & other.southeast) | (one.southeast & other.northwest));
  const Board falling =
      own.southeast & own.northwest &
      ((one.southwest & other.northeast) | (one.northeast & other.southwest));
  return Count(rising) + Count(falling);
}

}  // namespace tara::eval::hand_features

namespace tara::eval {

// Four boards side by side: one register with AVX2.
typedef uint64_t FourBoards __attribute__((vector_size(32)));

// Adds `x` and `y` to the lowest bit of counters, cell by cell, and returns
// the carries. `low` is the bit.
inline FourBoards AddCells(FourBoards x, FourBoards y, FourBoards& low) {
  const FourBoards either = x ^ y;
  const FourBoards carry = (x & y) | (either & low);
  low ^= either;
  return carry;
}

// Returns, for each of four boards, what CountComponents (which says how it
// is done) returns: at most 12 components vanish at one cell, so that a
// counter of four bits a cell holds them until the end.
inline std::array<int, 4> CountComponentsOfFour(
    const std::array<Board, 4>& boards) {
  static_assert(kShrinkSteps % 4 == 0 && kShrinkSteps < 16);
  FourBoards hills;
  std::memcpy(&hills, boards.data(), sizeof(hills));
  FourBoards ones = {}, twos = {}, fours = {}, eights = {};
  const auto next_isolated = [&hills] {
    const FourBoards isolated = Isolated(hills);
    hills = Shrunk(hills);
    return isolated;
  };
  Unrolled<kShrinkSteps / 4>([&](auto) {
    FourBoards carries[2];
    for (FourBoards& carry : carries) {
      const FourBoards first = next_isolated();
      const FourBoards second = next_isolated();
      carry = AddCells(first, second, ones);
    }
    const FourBoards carry = AddCells(carries[0], carries[1], twos);
    eights |= fours & carry;
    fours ^= carry;
  });
  std::array<int, 4> counts;
  for (int i = 0; i < 4; ++i) {
    counts[i] = Count(ones[i]) + 2 * Count(twos[i]) + 4 * Count(fours[i]) +
                8 * Count(eights[i]);
  }
  return counts;
}

}  // namespace tara::eval

namespace tara::eval::hand_features {

// The features of the hand-made evaluation in every variant: one small function
// a feature, each for the side that calls itself `own`. All are invariant under
// the board's symmetries.

// --- Kingdoms and territory --------------------------------------------------

// The kingdom features count the components of these boards.
inline Board Ringforts(const SideView& view) { return view.own; }
// All open hills taken: no play makes fewer kingdoms. (Open regions without a
// ringfort count too.)
inline Board PossibleRingforts(const SideView& view) {
  return view.own | view.open;
}
// Every open hill taken that touches two ringforts.
inline Board MergedRingforts(const SideView& view) {
  return view.own | (view.open & NeighboursIn(view.own).two);
}
// Every open hill taken that touches a ringfort.
inline Board NearRingforts(const SideView& view) {
  return view.own | (view.open & Adjacent(view.own));
}

inline int Territory(const SideView& view) { return Count(view.own); }
inline int Bridges(const SideView& view) {
  return CountAdjacentPairs(view.own);
}
inline int OnEdge(const SideView& view) {
  return Count(view.own & ~NeighboursIn(kAllHills).four);
}
inline int BesideCorners(const SideView& view) {
  return Count(view.own & ~NeighboursIn(kAllHills).three);
}
inline int InCentre(const SideView& view) {
  constexpr Board kD4 = BoardOf(HillAt(3, 3));
  return Count(view.own & (kD4 | Adjacent(kD4) | Diagonal(kD4)));
}

// --- Squares of four hills ---------------------------------------------------

inline int FullSquares(const SideView& view) {
  const Squares own(view.own);
  return Count(own.southwest & own.southeast & own.northwest & own.northeast);
}

inline int SquaresMissingOpen(const SideView& view) {
  return SquaresOfThree(view.own, view.open);
}
inline int SquaresMissingEnemy(const SideView& view) {
  return SquaresOfThree(view.own, view.enemy);
}

// Linked for certain if play alternates: two ways to do it.
inline int SafeDiagonals(const SideView& view) {
  return DiagonalPairs(view.own, view.open, view.open);
}
inline int HalfCutDiagonals(const SideView& view) {
  return DiagonalPairs(view.own, view.open, view.enemy);
}

// Squares with two adjacent own ringforts and `one`, `other` beyond them.
inline int SidePairs(Board own_board, Board one_board, Board other_board) {
  const Squares own(own_board), one(one_board), other(other_board);
  const auto beyond = [](Board a, Board b, Board c, Board d) {
    return (a & d) | (b & c);
  };
  return Count(
      (own.southwest & own.southeast &
       beyond(one.northwest, one.northeast, other.northwest, other.northeast)) |
      (own.northwest & own.northeast &
       beyond(one.southwest, one.southeast, other.southwest, other.southeast)) |
      (own.southwest & own.northwest &
       beyond(one.southeast, one.northeast, other.southeast, other.northeast)) |
      (own.southeast & own.northeast &
       beyond(one.southwest, one.northwest, other.southwest, other.northwest)));
}
inline int FreeSidePairs(const SideView& view) {
  return SidePairs(view.own, view.open, view.open);
}
inline int HalfFreeSidePairs(const SideView& view) {
  return SidePairs(view.own, view.open, view.enemy);
}

inline int LonelySquares(const SideView& view) {
  const Squares own(view.own), open(view.open);
  const Board south = open.southwest & open.southeast;
  const Board north = open.northwest & open.northeast;
  return Count((south & ((own.northwest & open.northeast) |
                         (own.northeast & open.northwest))) |
               (north & ((own.southwest & open.southeast) |
                         (own.southeast & open.southwest))));
}

// --- Lines of three hills ----------------------------------------------------

// Pairs of own ringforts two steps apart with a hill of `middle` between.
inline int LinesAround(Board own, Board middle) {
  return Count((own << 1) & (own >> 1) & middle) +
         Count((own << kRankStride) & (own >> kRankStride) & middle);
}
inline int OpenLines(const SideView& view) {
  return LinesAround(view.own, view.open);
}
inline int CutLines(const SideView& view) {
  return LinesAround(view.own, view.enemy);
}
inline int LongDiagonals(const SideView& view) {
  const Board own = view.own;
  return Count((own << 10) & (own >> 10) & view.open) +
         Count((own << 8) & (own >> 8) & view.open);
}
inline int KnightPairs(const SideView& view) {
  const Board own = view.own;
  return Count(own & (own << 19)) + Count(own & (own << 17)) +
         Count(own & (own << 11)) + Count(own & (own << 7));
}

// --- Single ringforts and sieges ---------------------------------------------

inline int SinglesLost(const SideView& view) {  // besieged: can be captured
  return Count(view.own & Besieged(view.enemy));
}
inline int SinglesWithOneWayOut(const SideView& view) {
  const Neighbours open = NeighboursIn(view.open);
  return Count(Singles(view) & open.one & ~open.two);
}
inline int SinglesWithTwoWaysOut(const SideView& view) {
  const Neighbours open = NeighboursIn(view.open);
  return Count(Singles(view) & open.two & ~open.three);
}
inline int FreeSingles(const SideView& view) {
  return Count(Singles(view) & NeighboursIn(view.open).three);
}
// Ringforts of larger kingdoms without an open hill next to them.
inline int Enclosed(const SideView& view) {
  return Count(view.own & Adjacent(view.own) & ~Adjacent(view.open));
}

// --- Open hills --------------------------------------------------------------

inline int Reach(const SideView& view) {
  return Count(view.open & Adjacent(view.own));
}
inline int HillsWithTwo(const SideView& view) {
  return Count(view.open & NeighboursIn(view.own).two);
}
inline int HillsWithThree(const SideView& view) {
  return Count(view.open & NeighboursIn(view.own).three);
}
inline int BesiegedHills(const SideView& view) {
  return Count(view.open & Besieged(view.own));
}
inline int ContestedHills(const SideView& view) {
  return Count(view.open & NeighboursIn(view.own).two & Adjacent(view.enemy));
}

// The features of the hand-made evaluation in one family of variants alone; as
// in hand_features.h, except Poisoned Chalice's rows, which a symmetry may give
// to the other side.

// --- Sacred Hill -------------------------------------------------------------

inline int ManoeuvresTargets(const SideView& view) {
  if (view.phase != Phase::kManoeuvres) return 0;
  constexpr int kKnightsDistance = 5;  // squared
  return Count(view.open & KnightMoves(view.own) &
               ~rules::TooNear(view.own, kKnightsDistance));
}

// --- High Kings --------------------------------------------------------------

inline int KingsCaptured(const SideView& view) { return view.kings_captured; }
inline Board KingTargets(const SideView& view) {
  const Board keep_away =
      view.phase == Phase::kBattle ? view.own_kings : view.own;
  return view.open & KnightMoves(view.own_kings) & ~Adjacent(keep_away);
}
inline int KingMobility(const SideView& view) {
  return Count(KingTargets(view));
}
inline int KingsStuck(const SideView& view) {  // no king can build
  return KingTargets(view) == 0 ? 1 : 0;
}
inline int KingsOnSingles(const SideView& view) {
  return Count(view.own_kings & Singles(view));
}
// Kings on single ringforts with at most one adjacent hill not the enemy's.
inline int KingsInDanger(const SideView& view) {
  const Board singles = view.own_kings & Singles(view);
  return Count(singles & ~NeighboursIn(view.open).two);
}
// The same, and an enemy king can arrive next to it.
inline int KingsAttacked(const SideView& view) {
  const Board singles = view.own_kings & Singles(view);
  const Board arrivals = KnightMoves(view.enemy_kings) & ~Adjacent(view.enemy);
  return Count(singles & ~NeighboursIn(view.open).two & Adjacent(arrivals));
}
inline int KingsBesieged(const SideView& view) {
  return Count(view.own_kings & Besieged(view.enemy));
}
inline int KingsOnEdge(const SideView& view) {
  return Count(view.own_kings & ~NeighboursIn(kAllHills).four);
}

// --- Poisoned Chalice --------------------------------------------------------

inline int QualifiedVacant(const SideView& view) {
  return Count(view.qualified);
}
inline int NoneQualified(const SideView& view) {
  return view.qualified == 0 ? 1 : 0;
}
// Hills where the side must build soon and that do its kingdoms good.
inline int QualifiedReach(const SideView& view) {
  return Count(view.qualified & Adjacent(view.own));
}
inline int QualifiedMerges(const SideView& view) {
  return Count(view.qualified & NeighboursIn(view.own).two);
}

// --- Stone of Destiny --------------------------------------------------------

inline int Linked(const SideView& view) { return Count(view.own_linked); }
inline int LinkedKingdoms(const SideView& view) {
  return CountComponents(view.own_linked);
}
inline int SwappableSingles(const SideView& view) {
  return Count(Singles(view) & ~view.own_linked);
}
inline int KingOnLinked(const SideView& view) {
  return Count(view.own_kings & view.own_linked);
}
inline int LinkedSquares(const SideView& view) {
  return SquaresOfThree(view.own_linked, kAllHills & ~view.own_linked);
}
inline int LinkedDiagonals(const SideView& view) {
  const Board rest = kAllHills & ~(view.own_linked | view.enemy);
  return DiagonalPairs(view.own_linked, rest, rest);
}
inline int SwappableMerges(const SideView& view) {
  return Count(view.open & NeighboursIn(view.own_linked).two);
}

}  // namespace tara::eval::hand_features

#endif  // TARA_EVAL_ALPHA_BETA_HAND_FEATURES_H_
