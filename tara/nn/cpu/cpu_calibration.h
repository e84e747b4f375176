#ifndef TARA_NN_CPU_CPU_CALIBRATION_H_
#define TARA_NN_CPU_CPU_CALIBRATION_H_

// Which values a network's activations take: what integers must reach.

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tara/core/state.h"
#include "tara/nn/cpu/cpu_network.h"
#include "tara/nn/cpu/cpu_weights.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {

// Returns `per_variant` positions of each variant from games played at random
// from `seed`.
std::vector<State> PositionsOfRandomGames(int per_variant, uint64_t seed);

// Returns the ranges in which integers have the least squared error of the
// network's activations at these positions. Computes the network in float32.
CpuRanges CalibrateCpuRanges(const CpuWeights& weights,
                             absl::Span<const State> positions);

// The ranges as tensors of a checkpoint, "calibration/tower" [blocks + 1,
// channels] and "calibration/inner" [blocks, channels], and back: nullopt when
// the checkpoint has neither; INVALID_ARGUMENT when one is missing, misshapen
// or not positive.
std::vector<NamedTensor> CpuRangesToTensors(const CpuRanges& ranges,
                                            const NetworkShape& shape);
absl::StatusOr<std::optional<CpuRanges>> CpuRangesOf(
    const Checkpoint& checkpoint);

}  // namespace tara::nn

#endif  // TARA_NN_CPU_CPU_CALIBRATION_H_
