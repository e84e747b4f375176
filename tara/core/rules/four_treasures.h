#ifndef TARA_CORE_RULES_FOUR_TREASURES_H_
#define TARA_CORE_RULES_FOUR_TREASURES_H_

#include "tara/core/board.h"
#include "tara/core/rules/turn.h"
#include "tara/core/rules/view.h"
#include "tara/core/state.h"
#include "tara/core/traits.h"

namespace tara::rules {

// Four Treasures, singles and doubles (docs/reference/rules.md sections 5 and
// 6). There are no phases; the one phase is called Battle.
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
    const W area = Area<kSeats, W>(view.seat);
    return MostlySecond(Capturable(view.enemy & area, view),
                        view.VacantIn(area));
  }
};

}  // namespace tara::rules

#endif  // TARA_CORE_RULES_FOUR_TREASURES_H_
