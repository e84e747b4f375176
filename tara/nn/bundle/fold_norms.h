#ifndef TARA_NN_BUNDLE_FOLD_NORMS_H_
#define TARA_NN_BUNDLE_FOLD_NORMS_H_

// The network as bundles keep it: one set of weights from which every form is
// made, so that all of them say the same.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {

// How the weights of a bundle are rounded.
enum class WeightType {
  kFloat32,  // as learned
  kFloat16,  // to float16: the file has about half the size
};

std::string WeightTypeName(WeightType type);  // "float32", "float16"

// A convolution and the norm that follows it, by the names of their tensors.
struct ConvolutionNames {
  std::string convolution;  // "block0.first.conv": has ".weight"
  std::string norm;         // "block0.first.norm": has ".bias" and so on
};

// Returns all of the network's, in its order: that of the stem, two of each
// block, that of the policy and that of the value.
std::vector<ConvolutionNames> ConvolutionsOf(const NetworkShape& shape);

// Whether the network has learned who will own each hill. (A head that was
// never taught still has the bias of zero that it began with.)
bool HasLearnedOwner(const Checkpoint& checkpoint);

// Returns the network of the checkpoint with its norms folded into the weights
// before them, under the same names: what is left of a norm is its bias (its
// weight is 1, its mean 0, its variance such that it divides by 1). Without the
// optimizer and the heads that only teach, but for that of owners where it has
// learned. So every program that reads checkpoints computes the same from it.
// Returns INVALID_ARGUMENT naming a tensor that is missing or misshapen.
absl::StatusOr<Checkpoint> FoldNorms(const Checkpoint& checkpoint);

// Rounds all weights of a folded network to float16. Returns OUT_OF_RANGE
// naming a tensor that holds larger numbers than there are.
absl::Status RoundToFloat16(Checkpoint& folded);

// Makes a folded network of tensors that hold no norms but their biases: adds
// what is left out. The inverse of dropping them.
void AddNeutralNorms(Checkpoint& folded);

// Whether the tensor is that of a norm and not its bias: AddNeutralNorms knows
// what it holds in a folded network.
bool IsNeutralNorm(const std::string& name);

}  // namespace tara::nn

#endif  // TARA_NN_BUNDLE_FOLD_NORMS_H_
