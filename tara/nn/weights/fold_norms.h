#ifndef TARA_NN_WEIGHTS_FOLD_NORMS_H_
#define TARA_NN_WEIGHTS_FOLD_NORMS_H_

// The network as it plays: batch norm no longer looks at the batch, so that it
// is folded into the layer before it. The CPU engine and every form of a bundle
// are made of what FoldNorms returns. (LibTorch folds its own tensors:
// tara/nn/torch/network_torch.h.)

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {

// The constant that batch norm adds to a variance before the root: LibTorch's
// default, which the network uses (network_torch.cc).
inline constexpr float kNormEpsilon = 1e-5f;

// Returns the network of the checkpoint with its norms folded into the weights
// before them, under the same names. From a norm's mean m, variance v, weight w
// and bias b:
//   scale = w / sqrt(v + kNormEpsilon),  shift = b - m scale;
// weights are multiplied by the scale of their output, and what is left of the
// norm is its bias, the shift (its weight is 1, its mean 0, its variance such
// that it divides by 1). Everything that reads checkpoints computes the same
// from it, and folding again changes no bit. The parts that only learning needs
// are omitted: the optimizer, and auxiliary heads except the learned ones of
// bundles. (A light network has no norms.) Returns INVALID_ARGUMENT naming a
// tensor that is missing or misshapen.
absl::StatusOr<Checkpoint> FoldNorms(const Checkpoint& checkpoint);

// Completes a folded network whose tensors lack all of its norms except their
// biases. The inverse of dropping them.
void AddNeutralNorms(Checkpoint& folded);

// Whether the tensor belongs to a norm and is not its bias: in a folded network
// AddNeutralNorms can restore it.
bool IsNeutralNorm(absl::string_view name);

// A network that has learned, made larger: learning is fast while a network is
// small, and a larger one goes further.

// Whether a network may become one of that size: it does not shrink.
bool CanGrow(const NetworkShape& from, const NetworkShape& to);

// Returns the larger network that computes what the smaller one does, up to
// rounding. `larger` has new weights (NewCheckpoint in
// tara/nn/training/trainer.h), which stay where the smaller one has no weights,
// unless they would change its outputs (Chen, Goodfellow and Shlens, "Net2Net",
// 2016, copy channels instead):
//   a new channel   has new weights, and the existing layers read it
//                   with the weight zero
//   a new block     adds nothing: the norm before its sum has the weight zero,
//                   and what it pools, too
// Both learn from the first step on. Progress, optimizer, averages and ranges
// of activations start from scratch; auxiliary heads that it lacks stay new.
// Returns INVALID_ARGUMENT unless CanGrow, or where a tensor is missing or
// misshapen, naming it.
absl::StatusOr<Checkpoint> GrowNetwork(const Checkpoint& smaller,
                                       Checkpoint larger);

}  // namespace tara::nn

#endif  // TARA_NN_WEIGHTS_FOLD_NORMS_H_
