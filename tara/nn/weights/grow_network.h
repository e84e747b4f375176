#ifndef TARA_NN_WEIGHTS_GROW_NETWORK_H_
#define TARA_NN_WEIGHTS_GROW_NETWORK_H_

// A network that has learned, made larger: learning is fast while a network is
// small, and a larger one goes further.

#include "absl/status/statusor.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {

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

#endif  // TARA_NN_WEIGHTS_GROW_NETWORK_H_
