#include "tara/eval/arena/gate.h"

#include <vector>

#include "tara/base/random.h"
#include "tara/core/state.h"
#include "tara/eval/arena/arena.h"
#include "tara/eval/arena/arena_result.h"
#include "tara/eval/statistics/sprt.h"

namespace tara::eval {

std::vector<ArenaOptions> GateMatches(const GateOptions& options) {
  constexpr double kErrorRate = 0.05;
  std::vector<ArenaOptions> matches;
  for (const State& start : options.starts) {
    ArenaOptions match;
    match.variant = start.variant;
    match.rule_options = start.options;
    match.games = options.games;
    match.seed =
        DeriveSeed(options.run_seed, ~options.candidate, StreamPurpose::kArena);
    match.sprt = {
        .elo0 = -options.max_drop_elo,
        .elo1 = 0,
        .alpha = kErrorRate,
        .beta = kErrorRate / static_cast<double>(options.starts.size()),
        .scale = EloScale::kLogistic};
    matches.push_back(match);
  }
  return matches;
}

bool IsWeaker(const ArenaResult& result) {
  return result.sprt.has_value() &&
         result.sprt->decision() == SprtDecision::kAcceptH0;
}

}  // namespace tara::eval
