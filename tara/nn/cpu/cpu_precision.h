#ifndef TARA_NN_CPU_CPU_PRECISION_H_
#define TARA_NN_CPU_CPU_PRECISION_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tara/core/state.h"
#include "tara/mcts/evaluator.h"
#include "tara/nn/inference_options.h"

namespace tara::nn {

// The number types of networks on the CPU, the most accurate first.
inline constexpr Precision kCpuPrecisions[] = {
    Precision::kFloat32, Precision::kInt16, Precision::kBfloat16,
    Precision::kInt8};

// Returns OK if this processor has instructions for products of this precision,
// or it is kAuto; else UNIMPLEMENTED, naming what it lacks.
absl::Status CheckCpuPrecision(Precision precision);

// Whether it multiplies in bfloat16 many times as fast as in float32 (AMX).
bool HasFastBfloat16();

// Mean differences of two precisions over positions.
struct PrecisionError {
  double value = 0;   // |difference| of the value, 0 to 2
  double policy = 0;  // half the sum of |differences| of the priors, 0 to 1
};

// REQUIRES: evaluations of the same positions, at least one.
PrecisionError ErrorOf(absl::Span<const mcts::Evaluation> reference,
                       absl::Span<const mcts::Evaluation> evaluations);

// The largest error that is accepted: a small part of the network's own.
inline constexpr PrecisionError kLargestPrecisionError = {.value = 0.02,
                                                          .policy = 0.03};

// Returns whether the error of an evaluator at these positions is within
// kLargestPrecisionError of the reference. Returns the error of an evaluator
// that fails. REQUIRES: at least one position.
absl::StatusOr<bool> IsAccurate(mcts::Evaluator& evaluator,
                                mcts::Evaluator& reference,
                                absl::Span<const State> positions);

}  // namespace tara::nn

#endif  // TARA_NN_CPU_CPU_PRECISION_H_
