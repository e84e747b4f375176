#include "tara/train/learn/replay_window.h"

#include <algorithm>
#include <cmath>

#include "tara/base/check.h"
#include "tara/base/random.h"

namespace tara::train {

int64_t WindowGames(const WindowOptions& options, int64_t games) {
  TARA_CHECK(options.max_games > 0, "an empty window");
  if (options.growth <= 0) return options.max_games;
  TARA_CHECK(options.min_games > 0, "an empty window");
  const double least = options.min_games;
  const double grown =
      std::pow(std::max(1.0, static_cast<double>(games) / least),
               options.growth) -
      1;
  const double window =
      least * (1 + options.growth_rate * grown / options.growth);
  return static_cast<int64_t>(std::min<double>(window, options.max_games));
}

bool IsHeldOut(double share, uint64_t run_seed, uint64_t game_index) {
  Random random(DeriveSeed(run_seed, game_index, StreamPurpose::kHeldOut));
  return random.Uniform() < share;
}

}  // namespace tara::train
