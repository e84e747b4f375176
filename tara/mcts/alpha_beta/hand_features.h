#ifndef TARA_MCTS_ALPHA_BETA_HAND_FEATURES_H_
#define TARA_MCTS_ALPHA_BETA_HAND_FEATURES_H_

// What the hand-made evaluation counts in every variant: one small function a
// feature, each for the side that calls itself `own`. All are invariant under
// the board's symmetries.

#include "tara/core/board.h"
#include "tara/mcts/alpha_beta/side_view.h"

namespace tara::mcts::hand_features {

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
// Ringforts of greater kingdoms without an open hill beside them.
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

}  // namespace tara::mcts::hand_features

#endif  // TARA_MCTS_ALPHA_BETA_HAND_FEATURES_H_
