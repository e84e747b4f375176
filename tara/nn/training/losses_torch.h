#ifndef TARA_NN_TRAINING_LOSSES_TORCH_H_
#define TARA_NN_TRAINING_LOSSES_TORCH_H_

#include <torch/torch.h>

#include <vector>

#include "tara/nn/encode/encoded_batch.h"
#include "tara/nn/heads.h"
#include "tara/nn/torch/network_torch.h"
#include "tara/nn/training/trainer.h"

namespace tara::nn {

// What a batch of samples teaches, as tensors on the CPU. Everything is in the
// frame of each sample's symmetry, as the network sees the position.
struct Targets {
  at::Tensor legal;  // [B, kNumPolicyOutputs]: 0, or very low
  // Of each head that learns, else undefined: the targets, whose shapes are
  // where they are made (losses_torch.cc), and the weights [B] of the samples,
  // 0 where a sample lacks the target.
  PerHead<at::Tensor> targets;
  PerHead<at::Tensor> weights;
};

// The heads that learn: those that play, and auxiliary ones with a weight.
PerHead<bool> LearningHeads(const TrainerOptions& options);

// Encodes the samples into `batch`, and their targets.
// REQUIRES: as Trainer::Step.
Targets EncodeSamples(const std::vector<Sample>& samples,
                      const PerHead<bool>& heads, EncodedBatch& batch);

// Returns the targets on the device.
Targets MoveTo(const c10::Device& device, const Targets& targets);

// Scalars, but for those of heads that do not learn: undefined.
struct LossTensors {
  at::Tensor total, accuracy;
  PerHead<at::Tensor> heads;
};

// REQUIRES: `output` has all heads that have targets.
LossTensors ComputeLosses(const NetworkOutput& output, const Targets& targets,
                          const TrainerOptions& options);

Losses ToLosses(const LossTensors& tensors);

}  // namespace tara::nn

#endif  // TARA_NN_TRAINING_LOSSES_TORCH_H_
