#ifndef TESTS_NN_PLAIN_FEATURES_H_
#define TESTS_NN_PLAIN_FEATURES_H_

#include "absl/types/span.h"
#include "tara/core/state.h"
#include "tara/core/symmetry.h"

namespace tara::nn {

// The plain twin of EncodeBatch: encodes the position transformed by
// `symmetry`.
// planes: [kNumPlanes, 7, 7], by rank, then file; globals: [kNumGlobals].
// REQUIRES: the state is not finished; the symmetry belongs to its variant and
// brings the seat to move to seat 0; the spans have those sizes.
void EncodeFeatures(const State& state, const Symmetry& symmetry,
                    absl::Span<float> planes, absl::Span<float> globals);

}  // namespace tara::nn

#endif  // TESTS_NN_PLAIN_FEATURES_H_
