#ifndef TARA_TRAIN_LEARNER_CONFIG_H_
#define TARA_TRAIN_LEARNER_CONFIG_H_

// What a config says of the games and targets that are learned from.

#include "proto/config.pb.h"
#include "tara/train/sampler.h"

namespace tara {

// REQUIRES: the config is resolved.
SamplerOptions SamplerOptionsOf(const proto::LearnerConfig& config);

}  // namespace tara

#endif  // TARA_TRAIN_LEARNER_CONFIG_H_
