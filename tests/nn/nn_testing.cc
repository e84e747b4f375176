#include "tests/nn/nn_testing.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tara/base/random.h"
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
    ApplyAction(RandomAction(state, random), state);
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

void ExpectNear(absl::Span<const mcts::Evaluation> results,
                absl::Span<const mcts::Evaluation> expected, float tolerance) {
  ASSERT_EQ(results.size(), expected.size());
  for (size_t i = 0; i < results.size(); ++i) {
    const mcts::Evaluation& a = results[i];
    const mcts::Evaluation& b = expected[i];
    ASSERT_EQ(a.priors.size(), b.priors.size()) << i;
    ASSERT_EQ(a.margins.size(), b.margins.size()) << i;
    float most = 0;
    const auto compare = [&](float x, float y) {
      const float difference = std::abs(x - y);
      most = std::isnan(difference) ? std::numeric_limits<float>::infinity()
                                    : std::max(most, difference);
    };
    for (size_t k = 0; k < a.priors.size(); ++k) {
      compare(a.priors[k], b.priors[k]);
    }
    for (size_t k = 0; k < a.margins.size(); ++k) {
      compare(a.margins[k], b.margins[k]);
    }
    compare(a.win, b.win);
    compare(a.draw, b.draw);
    compare(a.loss, b.loss);
    EXPECT_LE(most, tolerance) << "position " << i;
    EXPECT_LE(std::abs(a.margin - b.margin), 10 * tolerance) << i;
  }
}

}  // namespace tara::nn
