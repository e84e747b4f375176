#ifndef TARA_MCTS_ALPHA_BETA_FAMILY_FEATURES_H_
#define TARA_MCTS_ALPHA_BETA_FAMILY_FEATURES_H_

// What the hand-made evaluation counts in one family of variants alone; as
// hand_features.h, but for Poisoned Chalice's rows, which a symmetry may give
// to the other side.

#include "tara/core/board.h"
#include "tara/core/kingdoms.h"
#include "tara/core/rules/sacred_hill.h"
#include "tara/core/state.h"
#include "tara/mcts/alpha_beta/side_view.h"

namespace tara::mcts::hand_features {

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
// The same, and an enemy king can arrive beside it.
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

}  // namespace tara::mcts::hand_features

#endif  // TARA_MCTS_ALPHA_BETA_FAMILY_FEATURES_H_
