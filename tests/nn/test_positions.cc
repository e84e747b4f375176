#include "tests/nn/test_positions.h"

#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/rules.h"

namespace tara::nn {

std::vector<State> RandomPositions(Variant variant, int count, uint64_t seed) {
  Random random(
      DeriveSeed(seed, static_cast<uint64_t>(variant), StreamPurpose::kTest));
  std::vector<State> positions;
  State state = InitialState(variant);
  while (static_cast<int>(positions.size()) < count) {
    if (state.finished()) state = InitialState(variant);
    // About one in four: the positions of one game differ.
    if (random.Below(4) == 0) positions.push_back(state);
    const LegalSet legal = LegalActions(state);
    ApplyAction(legal.Nth(static_cast<int>(
                    random.Below(static_cast<uint32_t>(legal.Count())))),
                state);
  }
  return positions;
}

std::vector<State> RandomPositionsOfAllVariants(int count, uint64_t seed) {
  std::vector<State> positions;
  for (const VariantInfo& info : kVariants) {
    for (const State& state : RandomPositions(info.variant, count, seed)) {
      positions.push_back(state);
    }
  }
  return positions;
}

}  // namespace tara::nn
