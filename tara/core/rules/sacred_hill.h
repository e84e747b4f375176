#ifndef TARA_CORE_RULES_SACRED_HILL_H_
#define TARA_CORE_RULES_SACRED_HILL_H_

#include "tara/core/board.h"
#include "tara/core/rules/turn.h"
#include "tara/core/rules/view.h"
#include "tara/core/state.h"

namespace tara::rules {

// Returns the hills nearer than `bound` (a squared distance, 1 to 5) to a
// ringfort of the board, and perhaps ringforts and bits off the board: squared
// distances are 1 (adjacent), 2 (diagonal), 4 (two steps), 5 (a knight's move).
template <BoardWord W>
TARA_INLINE W TooNear(W ringforts, int bound) {
  if (bound == 5) [[likely]]
    return Dilated(ringforts) | TwoStepsStraight(ringforts);
  if (bound > 2) return Dilated(ringforts);
  return bound > 1 ? Beside(ringforts) : W{};
}

// Returns the targets with the highest priority: the number of adjacent
// ringforts in `own`, 0 to 4 (docs/reference/rules.md section 4). With `apart`,
// none counts as one.
template <BoardWord W>
TARA_INLINE W HighestPriority(W targets, W own, bool apart) {
  // Shifted off the hills, bits land on none of the targets.
  const W north = own << kRankStride, south = own >> kRankStride;
  const W east = own << 1, west = own >> 1;
  // By three directions, then the fourth: targets with at least 1, 2, 3, 4.
  const W any = north | south | east;
  const W pair = Majority(north, south, east);
  const W all = north & south & east;
  const W one = apart ? targets : targets & (any | west);
  const W two = targets & (pair | (any & west));
  const W three = targets & (all | (pair & west));
  const W four = targets & all & west;
  return SelectNonEmpty(
      four,
      SelectNonEmpty(three, SelectNonEmpty(two, SelectNonEmpty(one, targets))));
}

// Sacred Hill, Levels 1 and 2 (docs/reference/rules.md sections 3 to 5).
template <int kLevel, int kSeatsInGame>
struct SacredHill : HillTurns<SacredHill<kLevel, kSeatsInGame>> {
  static constexpr FamilyTraits kTraits = {
      .phases =
          Bit(Phase::kManoeuvres) | Bit(Phase::kBattle) | Bit(Phase::kFinished),
      .endings = Bit(Ending::kOut),
      .pending_endings = Bit(Ending::kOut)};
  static constexpr int kSeats = kSeatsInGame;
  static constexpr bool kHasManoeuvres = true;

  template <BoardWord W>
  static TARA_INLINE W ManoeuvresTargets(const BoardView<W>& view) {
    const W candidates = view.VacantIn(Area<kSeats, W>(view.seat));
    W first = candidates;
    if (kSeats == 4 && view.options->shared_row_opening) {
      first = first & W(kSharedRows[view.side()]);
    }
    const W others = candidates & KnightMoves(view.own) &
                     ~TooNear(view.own, view.options->proximity_bound);
    return Select(NonZero(view.own), others, first);
  }

  // A side without a hill to go to starts Battle for both.
  template <BoardWord W>
  static TARA_INLINE MaskOf<W> ManoeuvresOver(W targets, const BoardView<W>&) {
    return IsZero(targets);
  }

  template <BoardWord W>
  static TARA_INLINE W BattleTargets(const BoardView<W>& view) {
    const bool changed =
        view.options->build_apart | (kLevel == 2 ? view.options->capture_first
                                                 : view.options->free_capture);
    if (changed) [[unlikely]] {
      return ChangedBattleTargets(view.own, view.enemy, view.seat,
                                  *view.options);
    }
    const W area = Area<kSeats, W>(view.seat);
    const W vacant = view.VacantIn(area);
    const W captures = BesiegedInByShifts(view.enemy & area, view.own);
    if constexpr (kLevel == 2) {
      return HighestPriority(vacant | captures, view.own, /*apart=*/false);
    } else {
      return MostlySecond(captures,
                          SelectNonEmpty(vacant & Beside(view.own), vacant));
    }
  }

 private:
  // The same by the options of Battle: out of line, to cost nothing without.
  template <BoardWord W>
  [[gnu::noinline]] static W ChangedBattleTargets(W own, W enemy, Seat seat,
                                                  const RuleOptions& options) {
    const BoardView<W> view = {.own = own, .enemy = enemy, .seat = seat};
    const W area = Area<kSeats, W>(seat);
    const W vacant = view.VacantIn(area);
    const W captures = BesiegedInByShifts(enemy & area, own);
    if constexpr (kLevel == 2) {
      const W highest =
          HighestPriority(vacant | captures, own, options.build_apart);
      return options.capture_first ? FirstNonEmpty(captures, highest) : highest;
    } else {
      const W near = options.build_apart ? vacant : vacant & Beside(own);
      const W builds = FirstNonEmpty(near, vacant);
      return options.free_capture ? captures | builds
                                  : FirstNonEmpty(captures, builds);
    }
  }
};

}  // namespace tara::rules

#endif  // TARA_CORE_RULES_SACRED_HILL_H_
