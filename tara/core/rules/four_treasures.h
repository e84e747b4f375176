#ifndef TARA_CORE_RULES_FOUR_TREASURES_H_
#define TARA_CORE_RULES_FOUR_TREASURES_H_

#include "tara/core/board.h"
#include "tara/core/rules/turn.h"
#include "tara/core/rules/view.h"
#include "tara/core/state.h"

namespace tara::rules {

// Four Treasures, singles and doubles (docs/reference/rules.md sections 5 and
// 6). The only phase is called Battle.
template <int kSeatsInGame>
struct FourTreasures : HillTurns<FourTreasures<kSeatsInGame>> {
  static constexpr FamilyTraits kTraits = {
      .phases = Bit(Phase::kBattle) | Bit(Phase::kFinished),
      .endings = Bit(Ending::kOut),
      .pending_endings = Bit(Ending::kOut),
      .bridges_first = true};
  static constexpr int kSeats = kSeatsInGame;
  static constexpr bool kHasManoeuvres = false;

  template <BoardWord W>
  static TARA_INLINE W BattleTargets(const BoardView<W>& view) {
    if (view.options->free_capture) [[unlikely]]
      return CapturesAndVacant(view.own, view.enemy, view.seat);
    const W area = Area<kSeats, W>(view.seat);
    return MostlySecond(BesiegedIn(view.enemy & area, view.own),
                        view.VacantIn(area));
  }

 private:
  // The same by the option free_capture. Out of line, so that nothing of it is
  // computed without the option.
  template <BoardWord W>
  [[gnu::noinline]] static W CapturesAndVacant(W own, W enemy, Seat seat) {
    const BoardView<W> view = {.own = own, .enemy = enemy, .seat = seat};
    const W area = Area<kSeats, W>(seat);
    return BesiegedIn(enemy & area, own) | view.VacantIn(area);
  }
};

}  // namespace tara::rules

#endif  // TARA_CORE_RULES_FOUR_TREASURES_H_
