#ifndef TARA_CORE_RULES_SACRED_HILL_H_
#define TARA_CORE_RULES_SACRED_HILL_H_

#include "tara/core/rules/turn.h"
#include "tara/core/rules/view.h"
#include "tara/core/state.h"

namespace tara::rules {

// Returns the hills nearer than `bound` (a squared distance, 1 to 5) to a
// ringfort of the board: squared distances are 1 (adjacent), 2 (diagonal), 4
// (two steps along a line), 5 (a knight's move).
constexpr Board TooNear(Board ringforts, int bound) {
  Board near = 0;
  if (bound > 1) near |= Adjacent(ringforts);
  if (bound > 2) near |= Diagonal(ringforts);
  if (bound > 4) near |= TwoStepsStraight(ringforts);
  return near;
}

// Returns those of `targets` with the highest order of priority: the number
// of adjacent ringforts in `own`, 0 to 4 (docs/reference/rules.md section 4).
constexpr Board HighestPriority(Board targets, Board own) {
  // Shifted off the hills, bits land on none of the targets.
  const Board n = own << kRankStride, s = own >> kRankStride;
  const Board e = own << 1, w = own >> 1;
  const Board pair_ns = n & s, any_ns = n | s;
  const Board pair_ew = e & w, any_ew = e | w;
  // Targets with at least 1, 2, 3, 4 adjacent ringforts.
  const Board one = targets & (any_ns | any_ew);
  const Board two = targets & (pair_ns | pair_ew | (any_ns & any_ew));
  const Board three = targets & ((pair_ns & any_ew) | (pair_ew & any_ns));
  const Board four = targets & pair_ns & pair_ew;
  return SelectNonEmpty(
      four,
      SelectNonEmpty(three, SelectNonEmpty(two, SelectNonEmpty(one, targets))));
}

// Sacred Hill, singles and doubles, Levels 1 and 2 (docs/reference/rules.md
// sections 3 to 5).
template <int kLevel, int kSeatsInGame>
struct SacredHill : HillTurns<SacredHill<kLevel, kSeatsInGame>> {
  static constexpr int kSeats = kSeatsInGame;
  static constexpr bool kHasManoeuvres = true;

  static Board Area(int seat) {
    return kSeats == 4 ? kDoublesAreas[seat] : kAllHills;
  }

  static Board ManoeuvresTargets(const View& view) {
    const Board candidates = view.vacant() & Area(view.seat);
    if (view.own == 0) {
      const bool on_shared_row = kSeats == 4 && view.options.shared_row_opening;
      return on_shared_row ? candidates & kSharedRows[view.side()] : candidates;
    }
    return candidates & KnightMoves(view.own) &
           ~TooNear(view.own, view.options.proximity_bound);
  }

  // A side without a hill to go to starts Battle for both.
  static bool ManoeuvresOver(const View&) { return true; }

  static Board BattleTargets(const View& view) {
    const Board area = Area(view.seat);
    const Board vacant = view.vacant() & area;
    const Board captures = BesiegedEnemies(view) & area;
    if constexpr (kLevel == 2) {
      return HighestPriority(vacant | captures, view.own);
    }
    return MostlySecond(captures,
                        SelectNonEmpty(vacant & Adjacent(view.own), vacant));
  }
};

}  // namespace tara::rules

#endif  // TARA_CORE_RULES_SACRED_HILL_H_
