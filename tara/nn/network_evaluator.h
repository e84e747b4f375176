#ifndef TARA_NN_NETWORK_EVALUATOR_H_
#define TARA_NN_NETWORK_EVALUATOR_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tara/mcts/evaluator.h"

namespace tara {

// Loads the network of a checkpoint for inference on the CPU, with LibTorch.
// The evaluator is thread-safe and takes no locks: each call computes on its
// own thread alone, in batches of up to 128 positions. Small batches are dear:
// one position costs about as much as seven in a batch of 64.
//
// Returns NOT_FOUND, DATA_LOSS or FAILED_PRECONDITION as ReadCheckpoint, and
// DATA_LOSS when a tensor is missing or misshapen, naming file and cause.
absl::StatusOr<std::unique_ptr<Evaluator>> LoadNetworkEvaluator(
    const std::string& checkpoint_path);

}  // namespace tara

#endif  // TARA_NN_NETWORK_EVALUATOR_H_
