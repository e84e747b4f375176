#ifndef TARA_NN_TRAINING_LOSSES_TORCH_H_
#define TARA_NN_TRAINING_LOSSES_TORCH_H_

#include <torch/torch.h>

#include <functional>
#include <vector>

#include "absl/types/span.h"
#include "tara/nn/heads.h"
#include "tara/nn/torch/network_torch.h"
#include "tara/nn/training/trainer.h"

namespace tara::nn {

// A batch of samples as tensors on one device. Everything is in the frame of
// each sample's symmetry, as the network sees the position.
struct EncodedSamples {
  at::Tensor planes;   // [B, kNumPlanes, 7, 7], in channels-last memory
  at::Tensor globals;  // [B, kNumGlobals]
  at::Tensor legal;    // [B, kNumPolicyOutputs]: 0, or very low
  // Of each head that learns, else undefined: the targets, whose shapes are
  // where they are made (losses_torch.cc), and the weights [B] of the samples,
  // 0 where a sample lacks the target.
  PerHead<at::Tensor> targets;
  PerHead<at::Tensor> weights;

  int64_t size() const { return planes.size(0); }
};

// The device that learns.
c10::Device DeviceOf(const TrainerOptions& options);

// The heads that learn: the heads that play, and auxiliary ones with a weight.
PerHead<bool> LearningHeads(const TrainerOptions& options);

// Encodes the samples on the CPU; `pinned`: in memory that a CUDA device reads
// directly. Thread-safe. REQUIRES: as Trainer::Step.
EncodedSamples EncodeSamples(const std::vector<Sample>& samples,
                             const PerHead<bool>& heads, bool pinned = false);

// Returns a function of each tensor of the samples.
EncodedSamples Transform(
    const EncodedSamples& samples,
    const std::function<at::Tensor(const at::Tensor&)>& transform);

// Returns the samples on the device. From pinned memory they are copied without
// waiting: what follows on the device's stream sees them whole.
EncodedSamples MoveTo(const c10::Device& device, const EncodedSamples& samples);

// Scalars; undefined for heads that do not learn.
struct LossTensors {
  at::Tensor total, accuracy;
  PerHead<at::Tensor> heads;
};

// `hills` is MakeHillMask() on the device. Reads nothing back from the device.
// REQUIRES: `output` has all heads that have targets.
LossTensors ComputeLosses(const NetworkOutput& output,
                          const EncodedSamples& targets,
                          const TrainerOptions& options,
                          const at::Tensor& hills);

Losses ToLosses(const LossTensors& tensors);

// The losses in one tensor [N] on their device, without reading them; `finite`
// is whether the step was made. And the losses of such a row, once it is read.
at::Tensor PackLosses(const LossTensors& tensors, const at::Tensor& finite);
Losses UnpackLosses(const PerHead<bool>& heads, absl::Span<const float> row);

}  // namespace tara::nn

#endif  // TARA_NN_TRAINING_LOSSES_TORCH_H_
