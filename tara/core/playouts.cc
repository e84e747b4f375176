#include "tara/core/playouts.h"

#include <cstddef>

#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/legal_set.h"
#include "tara/core/outcome.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"

namespace tara {
namespace {

// Whether the action replaces an enemy ringfort other than by a swap.
bool IsCapture(const State& state, Action action) {
  if (Info(state.variant).family == Family::kStoneOfDestiny) return false;
  const ActionParts parts = Parts(action);
  if (parts.kind == ActionKind::kPass) return false;
  const Board enemies = state.ringforts[Opponent(state.side())];
  return (enemies & BoardOf(parts.to)) != 0;
}

void PlayGame(State state, Random& random, PlayoutStatistics& statistics) {
  int64_t length = 0;
  int64_t legal_actions = 0;
  for (; !state.finished(); ++length) {
    const LegalSet legal = LegalActions(state);
    const int count = legal.Count();
    const Action action = legal.Nth(ChooseNth(random(), count));
    legal_actions += count;
    statistics.captures += IsCapture(state, action);
    ++statistics.phase_plies[static_cast<size_t>(state.phase)];
    ApplyAction(action, state);
  }
  statistics.AddGame(Score(state), length, legal_actions);
}

}  // namespace

PlayoutStatistics PlayRandomGamesScalar(Variant variant,
                                        const RuleOptions& options,
                                        uint64_t seed, int64_t first_game,
                                        int64_t games) {
  PlayoutStatistics statistics;
  const State start = InitialState(variant, options);
  for (int64_t game = first_game; game < first_game + games; ++game) {
    Random random(DeriveSeed(seed, static_cast<uint64_t>(game),
                             StreamPurpose::kPlayouts));
    PlayGame(start, random, statistics);
  }
  return statistics;
}

}  // namespace tara
