#include "tara/mcts/time/playout_cap.h"

#include "tara/base/check.h"

namespace tara::mcts {

TurnSearch DrawTurnSearch(const PlayoutCapOptions& options, Random& random) {
  TARA_CHECK(options.full_share >= 0, "a share is not negative");
  TARA_CHECK(options.full_simulations >= 1 && options.fast_simulations >= 1,
             "a search has simulations");
  const bool full =
      options.full_share >= 1 || random.Uniform() < options.full_share;
  return {
      .simulations = full ? options.full_simulations : options.fast_simulations,
      .full = full};
}

}  // namespace tara::mcts
