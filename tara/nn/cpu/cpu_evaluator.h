#ifndef TARA_NN_CPU_CPU_EVALUATOR_H_
#define TARA_NN_CPU_CPU_EVALUATOR_H_

#include <memory>

#include "absl/status/statusor.h"
#include "tara/mcts/evaluator.h"
#include "tara/nn/inference_options.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {

struct CpuEvaluator {
  std::unique_ptr<mcts::Evaluator> evaluator;
  Precision precision = Precision::kFloat32;  // never kAuto
};

// Makes an evaluator that computes with oneDNN. Thread-safe, and takes no
// locks: each call computes on its own thread alone. What it says of a position
// is the same, bit for bit, whatever else is in the batch.
//
// Returns INVALID_ARGUMENT when a tensor is missing or misshapen, naming it;
// UNIMPLEMENTED when this processor has no instructions for `precision`.
absl::StatusOr<CpuEvaluator> NewCpuEvaluator(const Checkpoint& checkpoint,
                                             Precision precision);

}  // namespace tara::nn

#endif  // TARA_NN_CPU_CPU_EVALUATOR_H_
