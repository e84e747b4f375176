#ifndef TARA_CORE_RANDOM_ACTION_H_
#define TARA_CORE_RANDOM_ACTION_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/state.h"

namespace tara {

// Returns which of `count` legal actions the upper half of a random number
// chooses, in the order of their indices. The same in every playout of the
// core. No action is preferred by more than count / 2^32.
// REQUIRES: count > 0.
constexpr int ChooseNth(uint64_t random, int count) {
  return static_cast<int>(((random >> 32) * static_cast<uint64_t>(count)) >>
                          32);
}

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
