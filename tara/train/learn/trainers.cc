#include "tara/train/learn/trainers.h"

#include <exception>
#include <utility>

#include "tara/base/status_macros.h"
#include "tara/nn/light/light.h"
#include "tara/nn/torch/torch_runtime.h"

namespace tara::train {

using nn::NetworkKind;

namespace {

// Null: the cores that learn compute them.
absl::StatusOr<std::unique_ptr<nn::LightGradients>> GradientsOf(
    const nn::NetworkShape& shape, const nn::TrainerOptions& options) {
  if (options.cuda_device == nn::TrainerOptions::kNoCudaDevice) return nullptr;
  TARA_RETURN_IF_ERROR(nn::CheckTrainerOptions(options));
  return nn::NewTorchLightGradients(shape, options);
}

// Returns what `make` returns, or the status of what LibTorch throws.
template <typename Make>
auto OnDevice(const Make& make) -> decltype(make()) {
  try {
    return make();
  } catch (const std::exception& error) {
    return nn::TorchError("making a network on learner.device",
                          "use a smaller network", error);
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<nn::Trainer>> NewTrainer(
    const nn::NetworkShape& shape, const nn::TrainerOptions& options,
    uint64_t seed) {
  return OnDevice([&]() -> absl::StatusOr<std::unique_ptr<nn::Trainer>> {
    if (shape.kind != NetworkKind::kLight) {
      return nn::NewTrainer(shape, options, seed);
    }
    TARA_ASSIGN_OR_RETURN(auto gradients, GradientsOf(shape, options));
    return nn::NewLightTrainer(shape, options, seed, std::move(gradients));
  });
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
  if (checkpoint.shape.kind != NetworkKind::kLight) {
    return nn::MakeTrainer(name, checkpoint, options);
  }
  return OnDevice([&]() -> absl::StatusOr<std::unique_ptr<nn::Trainer>> {
    TARA_ASSIGN_OR_RETURN(auto gradients,
                          GradientsOf(checkpoint.shape, options));
    return nn::MakeLightTrainer(name, checkpoint, options,
                                std::move(gradients));
  });
}

}  // namespace tara::train
