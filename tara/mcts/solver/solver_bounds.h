#ifndef TARA_MCTS_SOLVER_SOLVER_BOUNDS_H_
#define TARA_MCTS_SOLVER_SOLVER_BOUNDS_H_

// Margins of positions as the rules' View holds them, for the own side, and
// how far the margin of a position can still go.

#include <algorithm>
#include <array>
#include <cstddef>

#include "tara/core/board.h"
#include "tara/core/kingdoms.h"
#include "tara/core/outcome.h"
#include "tara/core/rules/view.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"

namespace tara::mcts {

// Margin by the rule of two tiers (docs/rules.md section 2): what leads in the
// first count, else in territory, makes 2 points and the difference.
constexpr int TwoTierMargin(int first_lead, int territory_lead) {
  const int lead = first_lead != 0 ? first_lead : territory_lead;
  return lead + 2 * ((lead > 0) - (lead < 0));
}

// Margin of the own side if the game ended as it stands. Of a finished
// position this is its result.
inline int StandingMargin(const rules::View& view, Family family) {
  const int territory_lead = Count(view.own) - Count(view.enemy);
  if (family == Family::kFourTreasures) {
    const int bridge_lead =
        std::min(CountAdjacentPairs(view.own), kMaxBridges) -
        std::min(CountAdjacentPairs(view.enemy), kMaxBridges);
    return TwoTierMargin(bridge_lead, territory_lead);
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

// Returns the margin of the own side that a search may begin with: a guess. In
// Four Treasures, once the board is full,
//
//   bridges of the own side - bridges of the enemy
//     = (degrees of the own hills - degrees of the enemy's) / 2
//
// where a hill's degree is the number of hills adjacent to it: of each adjacent
// pair, own hills count 1/2 each and the enemy's -1/2. So every hill has a
// value of its own, and without captures both sides take the best in turn.
inline int GuessMargin(const rules::View& view, Family family) {
  if (family != Family::kFourTreasures) return StandingMargin(view, family);
  std::array<Board, 5> of_degree = {};
  ForEachHill(kAllHills, [&](Hill hill) {
    const Board board = BoardOf(hill);
    of_degree[static_cast<size_t>(Count(Adjacent(board)))] |= board;
  });
  int lead = 0;
  int next = 1;  // whose turn: -1 the enemy's
  for (const int degree : {4, 3, 2}) {
    const Board hills = of_degree[static_cast<size_t>(degree)];
    lead += degree * (Count(hills & view.own) - Count(hills & view.enemy));
    if (Count(hills & view.vacant()) % 2 == 0) continue;
    lead += next * degree;
    next = -next;
  }
  return TwoTierMargin(lead / 2, Count(view.own) - Count(view.enemy));
}

}  // namespace tara::mcts

#endif  // TARA_MCTS_SOLVER_SOLVER_BOUNDS_H_
