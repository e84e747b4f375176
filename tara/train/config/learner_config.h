#ifndef TARA_TRAIN_CONFIG_LEARNER_CONFIG_H_
#define TARA_TRAIN_CONFIG_LEARNER_CONFIG_H_

// What a config says of learning, as trainer and learner take it.
// REQUIRES, of all: the config is resolved.

#include "proto/config.pb.h"
#include "tara/nn/training/trainer.h"
#include "tara/train/learn/learner.h"
#include "tara/train/learn/sampler.h"

namespace tara::train {

nn::TrainerOptions TrainerOptionsOf(const proto::TrainConfig& config);

// `rate_factor` multiplies the config's learning rate, which falls over so many
// generations, of which there are as many in the run.
LearnOptions LearnOptionsOf(const proto::TrainConfig& config,
                            double rate_factor, int generations);

// What the sampler takes: the window, the targets, what is held out.
SamplerOptions SamplerOptionsOf(const proto::LearnerConfig& config);

}  // namespace tara::train

#endif  // TARA_TRAIN_CONFIG_LEARNER_CONFIG_H_
