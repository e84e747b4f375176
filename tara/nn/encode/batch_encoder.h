#ifndef TARA_NN_ENCODE_BATCH_ENCODER_H_
#define TARA_NN_ENCODE_BATCH_ENCODER_H_

// Positions as the features of features.h: from states straight into the
// network's input, in the layout that the network reads.

#include <cstdint>

#include "absl/types/span.h"
#include "tara/core/action.h"
#include "tara/core/state.h"
#include "tara/core/symmetry.h"

namespace tara::nn {

// How the planes of a batch of B positions lie in memory, slowest axis first.
enum class PlaneLayout : uint8_t {
  kChannelsFirst,  // [B, kNumPlanes, 7, 7]
  kChannelsLast,   // [B, 7, 7, kNumPlanes]
};

// Positions to encode; spans of one size.
struct EncoderInput {
  absl::Span<const State> states;
  absl::Span<const Symmetry> symmetries;
  absl::Span<const LegalSet> legal;  // LegalActions(states[i])
};

// The destination of the features. Aligning the planes to 64 bytes is fastest;
// planes of more than 32 MiB then bypass the caches.
struct EncoderOutput {
  PlaneLayout layout = PlaneLayout::kChannelsFirst;
  absl::Span<float> planes;   // [B * kNumPlanes * kNumSquares]
  absl::Span<float> globals;  // [B, kNumGlobals]
};

// Encodes every position seen through its symmetry. Allocates nothing.
// REQUIRES: no state is finished; each symmetry belongs to its variant and
// brings the seat to move to seat 0; the spans have those sizes.
void EncodeBatch(const EncoderInput& input, const EncoderOutput& output);

}  // namespace tara::nn

#endif  // TARA_NN_ENCODE_BATCH_ENCODER_H_
