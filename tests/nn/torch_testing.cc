#include "tests/nn/torch_testing.h"

#include <cmath>

#include "absl/strings/match.h"
#include "tara/base/random.h"
#include "tara/core/rules.h"
#include "tara/core/symmetry.h"
#include "tests/nn/nn_testing.h"

namespace tara::nn {
namespace {

Board RandomBoard(Board among, Random& random) {
  Board board = 0;
  ForEachHill(among, [&](Hill hill) {
    if (random.Below(3) == 0) board |= BoardOf(hill);
  });
  return board;
}

}  // namespace

Checkpoint LivelyNetwork(const NetworkShape& shape, uint64_t seed,
                         bool with_owner) {
  Checkpoint network = NewCheckpoint(shape, seed).value();
  Random random(DeriveSeed(seed, 1, StreamPurpose::kTest));
  for (NamedTensor& tensor : network.tensors) {
    const absl::string_view name = tensor.name;
    if (IsOfOptimizer(name)) continue;
    if (absl::StartsWith(name, "owner_") && !with_owner) continue;
    for (float& value : tensor.values) {
      const auto normal = static_cast<float>(random.Normal());
      if (absl::EndsWith(name, "running_var")) {
        value = std::exp(0.3f * normal);
      } else if (absl::EndsWith(name, "running_mean") ||
                 absl::EndsWith(name, "norm.weight") ||
                 absl::EndsWith(name, "bias")) {
        value += 0.2f * normal;
      }
    }
  }
  return network;
}

Checkpoint SmallNetwork() {
  return LivelyNetwork({.channels = 8, .blocks = 3});
}

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

}  // namespace tara::nn
