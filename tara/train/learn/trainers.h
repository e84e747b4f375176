#ifndef TARA_TRAIN_LEARN_TRAINERS_H_
#define TARA_TRAIN_LEARN_TRAINERS_H_

// Trainers for all kinds of network, with the same contracts:
// tara/nn/training/trainer.h for towers, tara/nn/light/light.h for light
// networks.

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tara/nn/training/trainer.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::train {

// INTERNAL or RESOURCE_EXHAUSTED when the device fails.
absl::StatusOr<std::unique_ptr<nn::Trainer>> NewTrainer(
    const nn::NetworkShape& shape, const nn::TrainerOptions& options,
    uint64_t seed);
absl::StatusOr<nn::Checkpoint> NewCheckpoint(const nn::NetworkShape& shape,
                                             uint64_t seed);
absl::StatusOr<std::unique_ptr<nn::Trainer>> MakeTrainer(
    const std::string& name, const nn::Checkpoint& checkpoint,
    const nn::TrainerOptions& options);

}  // namespace tara::train

#endif  // TARA_TRAIN_LEARN_TRAINERS_H_
