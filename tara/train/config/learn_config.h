#ifndef TARA_TRAIN_CONFIG_LEARN_CONFIG_H_
#define TARA_TRAIN_CONFIG_LEARN_CONFIG_H_

// The part of a config for LibTorch: devices, and the options of trainer and
// learner.

#include "absl/status/status.h"
#include "proto/config.pb.h"
#include "tara/nn/training/trainer.h"
#include "tara/nn/weights/checkpoint.h"
#include "tara/train/learn/learner.h"

namespace tara::train {

// Checks that this machine, with this LibTorch, has the devices of a valid
// config and supports its number type on them. Returns FAILED_PRECONDITION
// naming the field, the device and the existing ones, UNIMPLEMENTED naming the
// number type and the reason, or INVALID_ARGUMENT for options that light
// networks do not support.
absl::Status CheckDevices(const proto::TrainConfig& config);

// The network and the options of trainer and learner from a config.
// REQUIRES, of all: the config is resolved.

nn::NetworkShape ToNetworkShape(const proto::TrainConfig& config);

nn::TrainerOptions ToTrainerOptions(const proto::TrainConfig& config);

// The learning rate falls over `generations`, the number of generations of the
// run.
LearnOptions ToLearnOptions(const proto::TrainConfig& config, int generations);

}  // namespace tara::train

#endif  // TARA_TRAIN_CONFIG_LEARN_CONFIG_H_
