#ifndef TARA_TRAIN_CONFIG_LEARN_CONFIG_H_
#define TARA_TRAIN_CONFIG_LEARN_CONFIG_H_

// What a config asks of LibTorch: devices, and the options of trainer and
// learner.

#include "absl/status/status.h"
#include "proto/config.pb.h"
#include "tara/nn/training/trainer.h"
#include "tara/nn/weights/checkpoint.h"
#include "tara/train/learn/learner.h"

namespace tara::train {

// Checks that this machine, with this LibTorch, has the devices that a valid
// config names, and computes in its number type there. Returns
// FAILED_PRECONDITION naming the field, the device and what there is instead,
// or UNIMPLEMENTED naming the number type and why; INVALID_ARGUMENT for what a
// light network does not do.
absl::Status CheckDevices(const proto::TrainConfig& config);

// The network and the options of trainer and learner from a config.
// REQUIRES, of all: the config is resolved.

nn::NetworkShape NetworkShapeOf(const proto::TrainConfig& config);

nn::TrainerOptions TrainerOptionsOf(const proto::TrainConfig& config);

// `rate_factor` multiplies the config's learning rate, which falls over so many
// generations, of which there are as many in the run.
LearnOptions LearnOptionsOf(const proto::TrainConfig& config,
                            double rate_factor, int generations);

}  // namespace tara::train

#endif  // TARA_TRAIN_CONFIG_LEARN_CONFIG_H_
