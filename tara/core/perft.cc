#include "tara/core/perft.h"

#include "tara/core/action.h"
#include "tara/core/rules.h"

namespace tara {

int64_t Perft(const State& state, int depth,
              const std::function<bool()>* stop) {
  if (depth == 0) return 1;
  const LegalSet legal = LegalActions(state);
  if (depth == 1) return legal.Count();
  // Not at the lowest nodes, which are nearly all.
  if (depth >= 3 && stop != nullptr && (*stop)()) return 0;
  int64_t sequences = 0;
  legal.ForEach([&](Action action) {
    State next = state;
    ApplyAction(action, next);
    sequences += Perft(next, depth - 1, stop);
  });
  return sequences;
}

std::vector<std::pair<Action, int64_t>> PerftDivide(const State& state,
                                                    int depth) {
  std::vector<std::pair<Action, int64_t>> counts;
  LegalActions(state).ForEach([&](Action action) {
    State next = state;
    ApplyAction(action, next);
    counts.emplace_back(action, Perft(next, depth - 1));
  });
  return counts;
}

}  // namespace tara
