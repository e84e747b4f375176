#ifndef TARA_NN_NETWORK_EVALUATOR_H_
#define TARA_NN_NETWORK_EVALUATOR_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tara/mcts/evaluator.h"

namespace tara {

// Loads the network of a checkpoint for inference on the CPU. The evaluator
// is thread-safe; the batch is computed on the calling thread (torch threads
// per call: `threads`). Returns NOT_FOUND or DATA_LOSS naming the file and
// what is wrong with it, FAILED_PRECONDITION for another feature version.
absl::StatusOr<std::unique_ptr<Evaluator>> LoadNetworkEvaluator(
    const std::string& checkpoint_path);

}  // namespace tara

#endif  // TARA_NN_NETWORK_EVALUATOR_H_
