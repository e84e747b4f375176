#include "tests/nn/bundle/test_network.h"

#include <cmath>
#include <filesystem>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/nn/training/trainer.h"

namespace tara::nn {

Checkpoint RandomNetwork(const NetworkShape& shape, uint64_t seed,
                         bool with_owner) {
  const std::string path = absl::StrCat(::testing::TempDir(), "/network", seed);
  EXPECT_TRUE(NewTrainer(shape, {.threads = 1}, seed)
                  ->Save(path, {.step = 12, .generation = 3, .samples = 345})
                  .ok());
  auto checkpoint = ReadCheckpoint(path);
  EXPECT_TRUE(checkpoint.ok()) << checkpoint.status();
  std::filesystem::remove(path);
  Random random(DeriveSeed(seed, 1, StreamPurpose::kTest));
  for (NamedTensor& tensor : checkpoint->tensors) {
    const bool variance = absl::EndsWith(tensor.name, "running_var");
    const bool owner = tensor.name == "owner_planes.bias";
    if (owner && !with_owner) continue;
    if (!variance && !owner && !absl::EndsWith(tensor.name, "running_mean")) {
      continue;
    }
    for (float& value : tensor.values) {
      const auto normal = static_cast<float>(random.Normal());
      value = variance ? std::exp(0.3f * normal) : 0.2f * normal;
    }
  }
  return *std::move(checkpoint);
}

Checkpoint SmallNetwork() {
  return RandomNetwork({.channels = 8, .blocks = 3}, 1, /*with_owner=*/true);
}

BundleOptions SmallBundleOptions() {
  return {
      .made_by = "a test",
      .weights = WeightType::kFloat32,
      .variants = {{.variant = Variant::kStoneOfDestiny,
                    .options = {.no_progress_limit = 30}},
                   {.variant = Variant::kSacredHillDoublesL1, .options = {}}},
      .provenance = {.run = "small",
                     .checkpoint = "ckpt-000003",
                     .generation = 3,
                     .steps = 12,
                     .samples = 345,
                     .games = 67,
                     .seed = 89,
                     .training_seconds = 1.5,
                     .processor_seconds = 2.5,
                     .config = "seed: 89\n",
                     .scores = {{.variant = "stone_of_destiny",
                                 .opponent = "greedy",
                                 .generation = 2,
                                 .games = 40,
                                 .score = 0.5,
                                 .low = 0.25,
                                 .high = 0.75}}}};
}

}  // namespace tara::nn
