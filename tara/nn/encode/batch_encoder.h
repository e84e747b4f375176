#ifndef TARA_NN_ENCODE_BATCH_ENCODER_H_
#define TARA_NN_ENCODE_BATCH_ENCODER_H_

// Positions as the features of features.h: from states straight into the
// network's input, in the layout that the network reads.

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "absl/types/span.h"
#include "tara/core/action.h"
#include "tara/core/bits.h"
#include "tara/core/board.h"
#include "tara/core/state.h"
#include "tara/core/symmetry.h"
#include "tara/nn/encode/features.h"

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

// Parts of the encoding of a position, which light networks share.

// The planes of a position as boards, in the order of kPlanes, before its
// symmetry: the board transform takes each to where the network sees it. The
// planes of neighbours come as bits of value 4; those of value 2 and 1 follow,
// then zeros.
using PlaneBoards = std::array<Board, 32>;
enum NeighbourBoards {
  kOwnTwos = kNumPlanes,
  kEnemyTwos,
  kOwnOnes,
  kEnemyOnes,
};

// REQUIRES: `legal` is LegalActions(state).
PlaneBoards BoardsOfPlanes(const State& state, int board_transform,
                           const LegalSet& legal);

// [board transform, square]: the bit of a board that is taken there, or one of
// no hill.
inline constexpr auto kSourceBits = [] {
  constexpr uint8_t kNoHill = kBoardSize;
  std::array<std::array<uint8_t, kNumSquares>, kNumBoardTransforms> bits;
  for (int transform = 0; transform < kNumBoardTransforms; ++transform) {
    bits[transform].fill(kNoHill);
    for (Hill hill = 0; hill < kNumHills; ++hill) {
      bits[transform][SquareOf(TransformHill(transform, hill))] =
          static_cast<uint8_t>(BitOf(hill));
    }
  }
  return bits;
}();

// Makes a byte for each of the 64 bits of eight boards: bit k is that of
// boards[k].
// Blocks of 8 x 8 bits are transposed in three steps each; source: Warren,
// "Hacker's Delight", 2nd edition, section 7-3.
inline void TransposeBoards(const Board* boards, uint8_t* bytes) {
  static_assert(std::endian::native == std::endian::little);
  for (int block = 0; block < 8; ++block) {
    uint64_t x = 0;
    Unrolled<8>(
        [&](auto k) { x |= (boards[k] >> (8 * block) & 0xff) << (8 * k); });
    uint64_t t = (x ^ (x >> 7)) & 0x00aa00aa00aa00aa;
    x ^= t ^ (t << 7);
    t = (x ^ (x >> 14)) & 0x0000cccc0000cccc;
    x ^= t ^ (t << 14);
    t = (x ^ (x >> 28)) & 0x00000000f0f0f0f0;
    x ^= t ^ (t << 28);
    std::memcpy(bytes + 8 * block, &x, sizeof(x));
  }
}

// Writes the globals [kNumGlobals] of a position. `own_kingdoms`: of the side
// to move.
void EncodeGlobalsOf(const State& state, const LegalSet& legal,
                     int own_kingdoms, int enemy_kingdoms, float* globals);

}  // namespace tara::nn

#endif  // TARA_NN_ENCODE_BATCH_ENCODER_H_
