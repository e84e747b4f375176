#ifndef TARA_NN_WEIGHTS_BATCH_NORM_H_
#define TARA_NN_WEIGHTS_BATCH_NORM_H_

// Batch norm of a network that plays: it no longer looks at the batch, so that
// whoever reads a checkpoint folds it into the layer before it.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {

// What batch norm adds to a variance before it takes the root: LibTorch's
// default, with which the network is built (network_torch.cc).
inline constexpr float kNormEpsilon = 1e-5f;

// A norm as  y = scale * x + shift,  a number of each for every channel.
struct FoldedNorm {
  std::vector<float> scale;
  std::vector<float> shift;
};

// Returns the norm of this name, such as "stem_norm", from the mean m, variance
// v, weight w and bias b that the checkpoint keeps of it:
//   scale = w / sqrt(v + kNormEpsilon),  shift = b - m scale.
// Returns INVALID_ARGUMENT naming a tensor that is missing or misshapen.
absl::StatusOr<FoldedNorm> FoldedNormOf(const Checkpoint& checkpoint,
                                        const std::string& name);

}  // namespace tara::nn

#endif  // TARA_NN_WEIGHTS_BATCH_NORM_H_
