#ifndef TARA_NN_TORCH_TORCH_EVALUATOR_H_
#define TARA_NN_TORCH_TORCH_EVALUATOR_H_

#include <memory>

#include "absl/status/statusor.h"
#include "tara/mcts/evaluator.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {

// Makes an evaluator that computes with LibTorch on the CPU: the reference for
// every other backend. Thread-safe, and takes no locks: each call computes on
// its own thread alone, in batches of up to 128 positions. Small batches are
// slow: one position costs about as much as seven in a batch of 64.
//
// Returns INVALID_ARGUMENT when a tensor is missing or misshapen, naming it.
absl::StatusOr<std::unique_ptr<mcts::Evaluator>> NewTorchEvaluator(
    const Checkpoint& checkpoint);

}  // namespace tara::nn

#endif  // TARA_NN_TORCH_TORCH_EVALUATOR_H_
