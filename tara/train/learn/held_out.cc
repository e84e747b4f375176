#include "tara/train/learn/held_out.h"

#include "tara/base/status_macros.h"

namespace tara::train {

absl::StatusOr<std::vector<HeldOutLosses>> MeasureHeldOut(
    const Sampler& sampler, nn::Trainer& trainer) {
  std::vector<HeldOutLosses> measured;
  for (const Variant variant : sampler.HeldOutVariants()) {
    const std::vector<nn::Sample> samples =
        sampler.HeldOutSamples(variant, kMostHeldOutPositions);
    if (samples.size() < kLeastHeldOutPositions) continue;
    TARA_ASSIGN_OR_RETURN(const nn::Losses losses, trainer.Measure(samples));
    measured.push_back({.variant = variant,
                        .positions = static_cast<int64_t>(samples.size()),
                        .losses = losses});
  }
  return measured;
}

nn::Losses MeanLosses(const std::vector<HeldOutLosses>& by_variant) {
  nn::Losses mean;
  const auto count = static_cast<double>(by_variant.size());
  for (const HeldOutLosses& each : by_variant) {
    mean.total += each.losses.total / count;
    mean.policy += each.losses.policy / count;
    mean.value += each.losses.value / count;
    mean.margin += each.losses.margin / count;
    mean.owner += each.losses.owner / count;
    mean.kingdoms += each.losses.kingdoms / count;
    mean.reply += each.losses.reply / count;
    mean.policy_accuracy += each.losses.policy_accuracy / count;
  }
  return mean;
}

}  // namespace tara::train
