#include "tara/train/learn/trainers.h"

#include <exception>

#include "tara/base/status_macros.h"
#include "tara/nn/light/light.h"
#include "tara/nn/torch/torch_runtime.h"

namespace tara::train {

using nn::NetworkKind;

absl::StatusOr<std::unique_ptr<nn::Trainer>> NewTrainer(
    const nn::NetworkShape& shape, const nn::TrainerOptions& options,
    uint64_t seed) {
  if (shape.kind == NetworkKind::kLight) {
    return nn::NewLightTrainer(shape, options, seed);
  }
  try {
    return nn::NewTrainer(shape, options, seed);
  } catch (const std::exception& error) {
    return nn::TorchError("making a network on learner.device",
                          "use a smaller network", error);
  }
}

absl::StatusOr<nn::Checkpoint> NewCheckpoint(const nn::NetworkShape& shape,
                                             uint64_t seed) {
  if (shape.kind != NetworkKind::kLight) return nn::NewCheckpoint(shape, seed);
  TARA_RETURN_IF_ERROR(nn::CheckLightShape(shape));
  return nn::NewLightCheckpoint(shape, seed);
}

absl::StatusOr<std::unique_ptr<nn::Trainer>> MakeTrainer(
    const std::string& name, const nn::Checkpoint& checkpoint,
    const nn::TrainerOptions& options) {
  return checkpoint.shape.kind == NetworkKind::kLight
             ? nn::MakeLightTrainer(name, checkpoint, options)
             : nn::MakeTrainer(name, checkpoint, options);
}

}  // namespace tara::train
