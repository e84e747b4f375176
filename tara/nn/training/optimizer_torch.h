#ifndef TARA_NN_TRAINING_OPTIMIZER_TORCH_H_
#define TARA_NN_TRAINING_OPTIMIZER_TORCH_H_

#include <c10/core/DeviceType.h>
#include <torch/torch.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tara/nn/torch/network_torch.h"
#include "tara/nn/training/trainer.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {

// While it lives, and if `enabled`, LibTorch computes what this thread starts
// on the kind of device in bfloat16 where that does no harm (convolutions and
// linear layers), and in float32 elsewhere. Weights stay float32. Gradients
// follow the types of the forward pass: backward() comes after its end.
// bfloat16 has the range of float32, so losses need no scaling.
class Autocast {
 public:
  Autocast(c10::DeviceType device, bool enabled);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  const c10::DeviceType device_;
  const bool enabled_;
};

// Moves tensors of one type and device into one block of memory, in their
// order, and returns it, a vector. They become views of it with the shapes and
// strides that they have. REQUIRES: no two of them share memory; without gaps.
at::Tensor MoveToBlock(std::vector<at::Tensor> tensors);

// Copies of tensors, to undo what is done to them.
class Snapshot {
 public:
  explicit Snapshot(std::vector<at::Tensor> tensors);

  void Keep();
  void Restore();
  // Restores unless `good`, a scalar on the device, which is not read.
  void RestoreUnless(const at::Tensor& good);

 private:
  std::vector<at::Tensor> tensors_;
  std::vector<at::Tensor> copies_;
};

// Optimizers of our own: LibTorch has them too, but the form in which it saves
// their state differs between 1.13 and 2.x.
//
// AdamW is Adam with decoupled weight decay:
//   m = b1 m + (1 - b1) g       v = b2 v + (1 - b2) g^2
//   w = w - lr decay w - lr (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps)
// with b1 = 0.9, b2 = 0.999, eps = 1e-8.
// Source: Loshchilov and Hutter 2019 (arXiv:1711.05101), algorithm 2.
//
// Muon: convolutions and linear layers of the residual tower (names that begin
// with "block") move by the nearest orthogonal matrix to Nesterov's momentum,
//   m = mu m + (1 - mu) g     w = w - lr decay w - lr 0.2 sqrt(max(r, c)) O,
//   O = U V^T of (1 - mu) g + mu m = U S V^T, a matrix [r, c] with the outputs
// as its rows and mu = 0.95: every direction moves equally far, even with a
// small gradient. The mean square of a step equals AdamW's, so its learning
// rates fit. O is approximated by five Newton-Schulz iterations. All other
// weights are AdamW's.
// Source: Jordan et al. 2024, "Muon: An optimizer for hidden layers in neural
// networks"; the size of the step: Liu et al. 2025 (arXiv:2502.16982), 2.2.

// Changes the weights of a module by their gradients. Weights without a
// gradient (of a head that is not computed) stay as they are. Weights decay
// separately from the gradient, by learning rate times `weight_decay` per step,
// only in tensors of two or more axes: not biases and norms. Not thread-safe.
class Optimizer {
 public:
  Optimizer(OptimizerKind kind, float weight_decay,
            const torch::nn::Module& module);

  // Moves the weights of these names, and their moments, into blocks of memory:
  // a device then makes a step with a few kernels, not one per tensor. From
  // then on exactly these have gradients. Returns the names in the order of the
  // blocks. Call it once.
  std::vector<std::string> UseBlocks(
      const std::function<bool(const std::string&)>& has_gradient);
  // The blocks of moments and weights. REQUIRES: UseBlocks().
  std::vector<at::Tensor> blocks() const {
    return {blocks_->first, blocks_->second, blocks_->weights};
  }

  void ZeroGradients();
  // With blocks: copies the gradients into one, which the functions below use.
  void GatherGradients();
  // Returns the Euclidean norm of all gradients together, a scalar.
  at::Tensor GradientNorm() const;
  // Shortens the gradients, of norm `norm`, to `max_norm`.
  void ClipGradients(double norm, double max_norm);
  // The same without reading the norm. REQUIRES: GatherGradients().
  void ClipGradients(const at::Tensor& norm, double max_norm);
  void Step(double learning_rate);
  int64_t steps() const { return steps_; }  // made so far
  // Steps that were undone do not count.
  void Uncount(int64_t steps) { steps_ -= steps; }

  // Adds the moments to the checkpoint, or takes them out of it. One that has
  // no moments of this kind of optimizer, or of single weights, is of another
  // kind, or older: those start at zero. Load returns INVALID_ARGUMENT naming
  // the tensor that is missing or misshapen.
  void Save(Checkpoint& checkpoint) const;
  absl::Status Load(const Checkpoint& checkpoint);

 private:
  // Tensors of the same index, which share memory with the originals.
  struct Tensors {
    std::vector<at::Tensor> weights, gradients, first, second;
  };
  // What UseBlocks makes.
  struct Blocks {
    int64_t decaying = 0;  // numbers of weights that decay: the first ones
    at::Tensor weights, first, second;
    at::Tensor gradients;  // undefined until they are gathered
  };

  void StepByAdamW(const Tensors& tensors, double learning_rate) const;
  // Of matrices of one shape, which are orthogonalized together.
  void StepByMuon(const Tensors& matrices, double learning_rate) const;

  const OptimizerKind kind_;
  const float weight_decay_;
  const std::string first_name_, second_name_;  // in checkpoints
  std::vector<std::string> names_;              // [weight]
  std::vector<at::Tensor> weights_;             // [weight]
  std::vector<at::Tensor> first_, second_;      // moments
  // The weights by index: all, or those of the blocks, in their order.
  std::vector<size_t> order_;
  std::optional<Blocks> blocks_;
  int64_t steps_ = 0;
};

// The exponential average of a network's weights over its steps, its norms'
// means and variances included:
//   average = d average + (1 - d) weights,  d = min(decay, (1 + t) / (10 + t))
// after step t, from 1: early on, when the weights still move far, the average
// is of the last few steps. It plays better than the weights of any one step,
// which the last batches pull about.
// Source: Polyak and Juditsky 1992; as an exponential average, with this
// warm-up, as TensorFlow's ExponentialMovingAverage has it (num_updates).
// Not thread-safe.
class WeightAverage {
 public:
  // Begins with the network's weights. REQUIRES: `network` outlives this;
  // 0 < decay < 1.
  WeightAverage(const Network& network, double decay);

  static double Decay(double decay, int64_t step) {
    const auto t = static_cast<double>(step);
    return std::min(decay, (1 + t) / (10 + t));
  }

  // Averages these blocks of the network's tensors and none else, as blocks of
  // its own: `names` are of the tensors of each.
  void UseBlocks(const std::vector<at::Tensor>& blocks,
                 const std::vector<std::vector<std::string>>& names);
  const std::vector<at::Tensor>& averages() const { return averages_; }

  // Starts again with the network's weights.
  void Reset();
  // Takes in the network's weights after a step, counted from 1.
  void Update(int64_t step);
  // The network of the averaged weights.
  Network& network() { return *average_; }

 private:
  const double decay_;
  const std::shared_ptr<Network> average_;
  std::vector<at::Tensor> weights_;   // of the network
  std::vector<at::Tensor> averages_;  // of the same index
};

}  // namespace tara::nn

#endif  // TARA_NN_TRAINING_OPTIMIZER_TORCH_H_
