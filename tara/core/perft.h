#ifndef TARA_CORE_PERFT_H_
#define TARA_CORE_PERFT_H_

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "tara/core/action.h"
#include "tara/core/state.h"

namespace tara {

// Returns the number of action sequences of length `depth` from the state; a
// finished game has none. Returns any number once `stop` is true (null: never),
// which is checked often. REQUIRES: depth >= 0. Exponential in depth.
int64_t Perft(const State& state, int depth,
              const std::function<bool()>* stop = nullptr);

// Returns for each legal action the number of sequences of length `depth`
// that begin with it. REQUIRES: depth >= 1.
std::vector<std::pair<Action, int64_t>> PerftDivide(const State& state,
                                                    int depth);

}  // namespace tara

#endif  // TARA_CORE_PERFT_H_
