#include "tara/train/learn/value_target.h"

#include <cmath>
#include <cstddef>
#include <optional>

#include "tara/base/check.h"
#include "tara/core/board.h"
#include "tara/core/state.h"

namespace tara::train {
namespace {

bool WasSearched(const proto::Step& step) {
  return step.simulations() > 0 || step.visits_size() > 0;
}

// A result as a target, for the side that won (1), lost (-1), or neither.
ValueTarget Certain(int result) {
  return {.value = static_cast<float>(result), .draw = result == 0 ? 1.0f : 0};
}

// The target of the other side.
ValueTarget TurnedRound(ValueTarget target) {
  return {.value = -target.value, .draw = target.draw};
}

// Returns (1 - share) * a + share * b.
ValueTarget Mixed(ValueTarget a, ValueTarget b, float share) {
  return {.value = (1 - share) * a.value + share * b.value,
          .draw = (1 - share) * a.draw + share * b.draw};
}

}  // namespace

std::vector<ValueTarget> ValueTargets(const proto::GameRecord& record,
                                      const record::ReplayedGame& game,
                                      const ValueTargetOptions& options) {
  TARA_CHECK(options.horizon >= 1, "a horizon is at least one ply");
  const int winner = game.outcome.winner();
  const ValueTarget red_outcome =
      Certain(winner < 0 ? 0 : (winner == kRed ? 1 : -1));
  std::vector<ValueTarget> targets(record.steps_size());
  ValueTarget red_later = red_outcome;  // the average from the next ply on
  for (int ply = record.steps_size() - 1; ply >= 0; --ply) {
    const proto::Step& step = record.steps(ply);
    const bool is_red = game.states[ply].side() == kRed;
    const auto for_red = [is_red](ValueTarget target) {
      return is_red ? target : TurnedRound(target);
    };
    ValueTarget red_target;
    if (const std::optional<int> proved = record::ProvedResult(step);
        proved.has_value()) {
      red_target = red_later = for_red(Certain(*proved));
    } else {
      if (WasSearched(step)) {
        red_later =
            Mixed(red_later, for_red({.value = step.root_value(), .draw = 0}),
                  1 / options.horizon);
      }
      red_target = Mixed(red_outcome, red_later, options.search_share);
    }
    targets[ply] = for_red(red_target);
  }
  return targets;
}

}  // namespace tara::train
