#include "tests/nn/torch_testing.h"

#include <cmath>

#include "absl/strings/match.h"
#include "tara/base/random.h"
#include "tara/nn/training/trainer.h"

namespace tara::nn {

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

}  // namespace tara::nn
