#ifndef TARA_NN_CPU_CPU_PRECISION_H_
#define TARA_NN_CPU_CPU_PRECISION_H_

#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "tara/base/clocks.h"
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
// How much faster a precision must be than a better one: clear enough that
// machines of one kind choose alike, though they never measure alike.
inline constexpr double kNeededSpeedup = 1.1;

struct PrecisionCandidate {
  Precision precision = Precision::kFloat32;
  mcts::Evaluator* evaluator = nullptr;
};

// Returns the precision to compute in: the first, unless a later one is
// kNeededSpeedup times as fast and within kLargestPrecisionError of the first.
// Measures for some tens of milliseconds of `clock`.
// Returns the error of an evaluator that fails.
// REQUIRES: at least one candidate and one position.
absl::StatusOr<Precision> ChooseCpuPrecision(
    absl::Span<const PrecisionCandidate> candidates,
    absl::Span<const State> positions,
    const std::function<absl::Time()>& clock = ThreadTime);

}  // namespace tara::nn

#endif  // TARA_NN_CPU_CPU_PRECISION_H_
