#ifndef TARA_NN_INFERENCE_NETWORK_EVALUATOR_H_
#define TARA_NN_INFERENCE_NETWORK_EVALUATOR_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tara/mcts/evaluator.h"
#include "tara/nn/inference_options.h"

namespace tara {

struct LoadedNetwork {
  std::unique_ptr<Evaluator> evaluator;
  InferenceInfo info;
};

// Loads the network of a checkpoint, or of a bundle, for inference. The
// evaluator is thread-safe; on the CPU it takes no locks, and each call
// computes on its own thread alone. With oneDNN, the answer for a position is
// the same, bit for bit, whatever its batch and its neighbours.
//
// Returns NOT_FOUND, DATA_LOSS or FAILED_PRECONDITION as ReadNetworkFile;
// DATA_LOSS when a tensor is missing or misshapen, naming file and cause;
// INVALID_ARGUMENT for a device that cannot be meant; FAILED_PRECONDITION where
// LibTorch lacks the device, saying what it has; UNIMPLEMENTED when the backend
// has no such device or precision; RESOURCE_EXHAUSTED when memory does not
// suffice.
absl::StatusOr<LoadedNetwork> LoadNetwork(const std::string& path,
                                          const InferenceOptions& options = {});

// The same, without what was chosen.
absl::StatusOr<std::unique_ptr<Evaluator>> LoadNetworkEvaluator(
    const std::string& path, const InferenceOptions& options = {});

}  // namespace tara

#endif  // TARA_NN_INFERENCE_NETWORK_EVALUATOR_H_
