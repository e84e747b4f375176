#include "tests/nn/nn_testing.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tara/base/random.h"
#include "tara/core/board.h"
#include "tara/core/rules.h"
#include "tara/core/symmetry.h"

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

namespace {

Board RandomBoard(Board among, Random& random) {
  Board board = 0;
  ForEachHill(among, [&](Hill hill) {
    if (random.Below(3) == 0) board |= BoardOf(hill);
  });
  return board;
}

}  // namespace

std::vector<Sample> MakeSamples(int per_variant, uint64_t seed) {
  Random random(DeriveSeed(seed, 0, StreamPurpose::kTest));
  std::vector<Sample> samples;
  for (const State& state : RandomPositionsOfAllVariants(per_variant, seed)) {
    const LegalSet legal = LegalActions(state);
    Sample sample = {.state = state,
                     .symmetry = CanonicalSymmetry(state),
                     .policy = {{legal.Nth(legal.Count() / 2), 1.0f}},
                     .reply = {{legal.Nth(0), 1.0f}},
                     .result = {0.5f, 0.25f, 0.25f},
                     .margin = static_cast<int>(random.Below(9)) - 4,
                     .has_final = true};
    sample.own_hills = RandomBoard(kAllHills, random);
    sample.enemy_hills = RandomBoard(kAllHills & ~sample.own_hills, random);
    sample.own_kingdoms = static_cast<int>(random.Below(10));
    sample.enemy_kingdoms = static_cast<int>(random.Below(40));
    samples.push_back(sample);
  }
  return samples;
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
