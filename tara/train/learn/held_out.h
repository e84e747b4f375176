#ifndef TARA_TRAIN_LEARN_HELD_OUT_H_
#define TARA_TRAIN_LEARN_HELD_OUT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "tara/core/variant.h"
#include "tara/nn/training/trainer.h"
#include "tara/train/learn/sampler.h"

namespace tara::train {

// Fewer held-out positions of a variant than this say nothing yet: less than
// two games.
inline constexpr int kLeastHeldOutPositions = 64;
// More are not measured: it is done after each generation.
inline constexpr int kMostHeldOutPositions = 512;

// Losses on positions of one variant that are never learned from.
struct HeldOutLosses {
  Variant variant;
  int64_t positions = 0;  // that were measured
  nn::Losses losses;
};

// Measures the network on the held-out positions of the sampler's window, by
// variant; variants with too few of them are left out. Learns nothing. Errors
// as Trainer::Measure.
absl::StatusOr<std::vector<HeldOutLosses>> MeasureHeldOut(
    const Sampler& sampler, nn::Trainer& trainer);

// Returns the mean over variants, each with the same weight. All are zero
// without any.
nn::Losses MeanLosses(const std::vector<HeldOutLosses>& by_variant);

}  // namespace tara::train

#endif  // TARA_TRAIN_LEARN_HELD_OUT_H_
