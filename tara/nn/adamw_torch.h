#ifndef TARA_NN_ADAMW_TORCH_H_
#define TARA_NN_ADAMW_TORCH_H_

#include <torch/torch.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "tara/nn/checkpoint.h"

namespace tara {

// Adam with decoupled weight decay. LibTorch has one too, but the form in which
// it saves its state differs between 1.13 and 2.x.
//
//   m = b1 m + (1 - b1) g       v = b2 v + (1 - b2) g^2
//   w = w - lr (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps) - lr decay w
//
// Source: Loshchilov and Hutter 2019 (arXiv:1711.05101), algorithm 2.
// Decay applies to tensors of two or more axes: not to biases and norms.
// Not thread-safe.
class AdamW {
 public:
  AdamW(const torch::nn::Module& module, float weight_decay);

  // Shortens the gradients to `max_norm` together. Returns their norm before.
  double ClipGradients(double max_norm);
  void ZeroGradients();
  void Step(double learning_rate);

  // Adds the moments to the checkpoint, or takes them out of it. Load returns
  // INVALID_ARGUMENT naming the tensor that is missing or misshapen.
  void Save(Checkpoint& checkpoint) const;
  absl::Status Load(const Checkpoint& checkpoint);

 private:
  struct Slot {
    std::string name;
    at::Tensor weights;
    at::Tensor first_moment;   // m
    at::Tensor second_moment;  // v
  };

  std::vector<Slot> slots_;
  const float weight_decay_;
  int64_t steps_ = 0;  // t
};

}  // namespace tara

#endif  // TARA_NN_ADAMW_TORCH_H_
