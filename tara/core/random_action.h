#ifndef TARA_CORE_RANDOM_ACTION_H_
#define TARA_CORE_RANDOM_ACTION_H_

#include <vector>

#include "absl/types/span.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/state.h"

namespace tara {

// Draws a legal action, each with the same chance, by one number of `random`.
// REQUIRES: the state is not finished.
Action RandomAction(const State& state, Random& random);

// Returns all positions with something to do of random games, which begin from
// each of `starts` in turn until there are at least `count`: of whole games, in
// their order. REQUIRES: `starts` is not empty, and none is finished.
std::vector<State> RandomPositions(absl::Span<const State> starts, size_t count,
                                   Random& random);

}  // namespace tara

#endif  // TARA_CORE_RANDOM_ACTION_H_
