#ifndef TARA_CORE_RULES_FOUR_TREASURES_H_
#define TARA_CORE_RULES_FOUR_TREASURES_H_

#include "tara/core/legal_set.h"
#include "tara/core/rules/turn.h"
#include "tara/core/state.h"

namespace tara::rules {

// Four Treasures, singles and doubles (docs/rules.md sections 5 and 6). There
// are no phases; the one phase is called Battle.
template <int kSeats>
struct FourTreasures {
  static constexpr bool kNoActionIsOut = true;

  static void Start(State& state) { state.phase = Phase::kBattle; }

  static void BeginTurn(State&) {}

  static LegalSet Legal(const State& state) {
    const Board area = kSeats == 4 ? kDoublesAreas[state.seat] : kAllHills;
    const Board captures = BesiegedEnemies(state) & area;
    return {.hills = captures != 0 ? captures : state.vacant() & area};
  }

  static void Apply(Action action, State& state) {
    TakeHill(BoardOf(Parts(action).to), state);
    EndTurn<FourTreasures>(state.ending != Ending::kNone, state);
  }

  static void Finish(State&) {}
};

}  // namespace tara::rules

#endif  // TARA_CORE_RULES_FOUR_TREASURES_H_
