#include "tara/core/random_action.h"

#include "tara/base/check.h"
#include "tara/core/action.h"
#include "tara/core/rules.h"

namespace tara {

Action RandomAction(const State& state, Random& random) {
  const LegalSet legal = LegalActions(state);
  return legal.Nth(
      static_cast<int>(random.Below(static_cast<uint32_t>(legal.Count()))));
}

std::vector<State> RandomPositions(absl::Span<const State> starts, size_t count,
                                   Random& random) {
  TARA_CHECK(!starts.empty(), "no game to begin");
  std::vector<State> positions;
  while (positions.size() < count) {
    for (const State& start : starts) {
      for (State state = start; !state.finished();) {
        positions.push_back(state);
        ApplyAction(RandomAction(state, random), state);
      }
    }
  }
  return positions;
}

}  // namespace tara
