#ifndef TARA_TRAIN_LEARNER_CONFIG_H_
#define TARA_TRAIN_LEARNER_CONFIG_H_

// What a config says of learning, as trainer and learner take it.
// REQUIRES, of all: the config is resolved.

#include "proto/config.pb.h"
#include "tara/nn/trainer.h"
#include "tara/train/learner.h"
#include "tara/train/sampler.h"

namespace tara {

TrainerOptions TrainerOptionsOf(const proto::TrainConfig& config);

// Returns how many generations a run will have learned at its end: those of the
// config or, where its minutes are up before, as many as fit into them. Before
// a generation that is not the first, `generations_done` have taken
// `seconds_used`, and the next ones are taken to last as long on average.
int ExpectedGenerations(const proto::TrainConfig& config, int generations_done,
                        double seconds_used);

// `rate_factor` multiplies the config's learning rate, which falls over so many
// generations, of which there are as many in the run.
LearnOptions LearnOptionsOf(const proto::TrainConfig& config,
                            double rate_factor, int generations);

// What the sampler takes: the window, the targets, what is held out.
SamplerOptions SamplerOptionsOf(const proto::LearnerConfig& config);

}  // namespace tara

#endif  // TARA_TRAIN_LEARNER_CONFIG_H_
