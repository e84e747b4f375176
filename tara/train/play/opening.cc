#include "tara/train/play/opening.h"

#include <cstdint>

#include "tara/base/check.h"
#include "tara/core/random_action.h"
#include "tara/core/rules.h"

namespace tara::train {

Opening DrawOpening(const OpeningOptions& options, const State& start,
                    Random& random) {
  TARA_CHECK(options.max_plies >= 1, "an opening has plies");
  Opening opening = {.actions = {}, .state = start};
  if (options.share <= 0 || random.Uniform() >= options.share) return opening;
  const uint32_t plies =
      1 + random.Below(static_cast<uint32_t>(options.max_plies));
  for (uint32_t ply = 0; ply < plies; ++ply) {
    const Action action = RandomAction(opening.state, random);
    State next = opening.state;
    ApplyAction(action, next);
    if (next.finished()) break;
    opening.actions.push_back(action);
    opening.state = next;
  }
  return opening;
}

}  // namespace tara::train
