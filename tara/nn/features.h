#ifndef TARA_NN_FEATURES_H_
#define TARA_NN_FEATURES_H_
// CONTRACT (to be completed by the nn engineer)
#include <array>
#include "absl/types/span.h"
#include "tara/core/state.h"
#include "tara/core/symmetry.h"

namespace tara {

inline constexpr int kNumPlanes = 0;   // to be defined: [kNumPlanes, 7, 7]
inline constexpr int kNumGlobals = 0;  // to be defined: variant, phase, options, seat, counters
inline constexpr int kFeatureVersion = 1;

// Encodes the position as the network sees it: transformed by `symmetry`
// (which must bring the seat to move to seat 0).
// planes: [kNumPlanes, 7, 7] row-major by rank, file; globals: [kNumGlobals].
void EncodeFeatures(const State& state, const Symmetry& symmetry,
                    absl::Span<float> planes, absl::Span<float> globals);

}  // namespace tara
#endif
