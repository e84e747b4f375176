#ifndef TARA_MCTS_SOLVER_BOUNDS_H_
#define TARA_MCTS_SOLVER_BOUNDS_H_

// Margins of finished positions as the rules' View holds them, and how far the
// margin of a position can still go.

#include <algorithm>
#include <cstdlib>

#include "tara/core/board.h"
#include "tara/core/kingdoms.h"
#include "tara/core/outcome.h"
#include "tara/core/rules/view.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"

namespace tara {

// Points of the own side minus those of the enemy by the rule of two tiers
// (docs/rules.md section 2): what leads in the first count, else in territory,
// makes 2 points and the difference.
constexpr int TwoTierMargin(int first_lead, int territory_lead) {
  const int lead = first_lead != 0 ? first_lead : territory_lead;
  return lead + 2 * ((lead > 0) - (lead < 0));
}

// Margin of the own side in a finished position.
inline int FinalMargin(const rules::View& view, Family family) {
  const int territory_lead = Count(view.own) - Count(view.enemy);
  if (family == Family::kFourTreasures) {
    return TwoTierMargin(
        std::min(CountAdjacentPairs(view.own), kMaxBridges) -
            std::min(CountAdjacentPairs(view.enemy), kMaxBridges),
        territory_lead);
  }
  if (family == Family::kSacredHill || family == Family::kPoisonedChalice) {
    return TwoTierMargin(
        CountComponents(view.enemy) - CountComponents(view.own),
        territory_lead);
  }
  State state = {};
  state.variant = view.variant;
  view.WriteTo(state);
  const int red_margin = Score(state).margin();
  return view.side() == kRed ? red_margin : -red_margin;
}

}  // namespace tara

#endif  // TARA_MCTS_SOLVER_BOUNDS_H_
