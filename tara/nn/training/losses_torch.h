#ifndef TARA_NN_TRAINING_LOSSES_TORCH_H_
#define TARA_NN_TRAINING_LOSSES_TORCH_H_

#include <torch/torch.h>

#include <vector>

#include "tara/nn/encode/encoded_batch.h"
#include "tara/nn/torch/network_torch.h"
#include "tara/nn/training/trainer.h"

namespace tara::nn {

// What a batch of samples teaches, as tensors on the CPU. Everything is in the
// frame of each sample's symmetry, as the network sees the position. Weights
// [B] are the samples', or 0 where the sample lacks the target.
struct Targets {
  at::Tensor weight;         // [B]
  at::Tensor legal;          // [B, kNumPolicyOutputs]: 0, or very low
  at::Tensor policy;         // [B, kNumPolicyOutputs]: shares
  at::Tensor policy_weight;  // [B]
  at::Tensor result;         // [B, 3]: shares of win, draw, loss
  at::Tensor margin;         // [B, 1], int64: index of the margin's logit
  at::Tensor margin_weight;  // [B]
  // Of the auxiliary heads; undefined where the head is not computed.
  at::Tensor final_weight = {};  // [B]: of owner and kingdoms
  at::Tensor owner = {};     // [B, 1, 7, 7], int64: 0 own, 1 enemy, 2 vacant
  at::Tensor kingdoms = {};  // [B, 2, 1], int64: own and enemy kingdoms
  at::Tensor reply = {};     // [B, kNumPolicyOutputs]: shares
  at::Tensor reply_weight = {};  // [B]
};

// Encodes the samples into `batch`, and their targets.
// REQUIRES: as Trainer::Step.
Targets EncodeSamples(const std::vector<Sample>& samples,
                      const AuxiliaryHeads& heads, EncodedBatch& batch);

// Returns the targets on the device.
Targets MoveTo(const c10::Device& device, const Targets& targets);

// The heads that have a loss.
AuxiliaryHeads HeadsOf(const TrainerOptions& options);

// Scalars, but for those of heads that are not computed: undefined.
struct LossTensors {
  at::Tensor total, policy, value, margin, accuracy;
  at::Tensor owner, kingdoms, reply;
};

LossTensors ComputeLosses(const NetworkOutput& output, const Targets& targets,
                          const TrainerOptions& options);

Losses ToLosses(const LossTensors& tensors);

}  // namespace tara::nn

#endif  // TARA_NN_TRAINING_LOSSES_TORCH_H_
