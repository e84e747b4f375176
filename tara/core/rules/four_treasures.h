#ifndef TARA_CORE_RULES_FOUR_TREASURES_H_
#define TARA_CORE_RULES_FOUR_TREASURES_H_

#include "tara/core/rules/turn.h"
#include "tara/core/rules/view.h"
#include "tara/core/state.h"

namespace tara::rules {

// Four Treasures, singles and doubles (docs/reference/rules.md sections 5 and
// 6). There are no phases; the one phase is called Battle.
template <int kSeatsInGame>
struct FourTreasures : HillTurns<FourTreasures<kSeatsInGame>> {
  static constexpr int kSeats = kSeatsInGame;
  static constexpr bool kHasManoeuvres = false;

  static Board BattleTargets(const View& view) {
    const Board area = kSeats == 4 ? kDoublesAreas[view.seat] : kAllHills;
    return MostlySecond(BesiegedEnemies(view) & area, view.vacant() & area);
  }
};

}  // namespace tara::rules

#endif  // TARA_CORE_RULES_FOUR_TREASURES_H_
