#ifndef TARA_NN_ENCODE_ENCODER_FLOATS_AVX512_H_
#define TARA_NN_ENCODE_ENCODER_FLOATS_AVX512_H_

// The AVX-512 path of the batch encoder, third part: bits become floats. For
// batch_encoder_avx512.cc alone.

#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "tara/core/batch/lanes.h"
#include "tara/nn/encode/encoder_block.h"
#include "tara/nn/encode/features.h"

namespace tara::nn::encoder_avx512 {

inline constexpr int kPlaneFloats = kNumPlanes * kNumSquares;
inline constexpr NeighbourPairs kNeighbourPairs = MakeNeighbourPairs();

// --- Floats ------------------------------------------------------------------

// PositionBits::neighbours, channels first: bits of the neighbours' planes of
// values 1 and 2, aligned with bytes 98 to 146 of the planes. Channels last:
// by square, the index into kNeighbourPairs.

// Loads a mask. From the intrinsic g++ 12 makes a load and a move from a
// general register, which takes twice as long.
TARA_INLINE __mmask16 Mask16(const uint8_t* bits) {
  struct TwoBytes {
    uint8_t bytes[2];
  };
  __mmask16 mask;
  asm("kmovw %1, %0"
      : "=k"(mask)
      : "m"(*reinterpret_cast<const TwoBytes*>(bits)));
  return mask;
}

TARA_INLINE __m512 Ones(const uint8_t* bits) {
  return _mm512_maskz_mov_ps(Mask16(bits), _mm512_set1_ps(1.0f));
}

// Around the caches, or at any address.
template <bool kAround>
void Store(float* out, __m512 floats) {
  kAround ? _mm512_stream_ps(out, floats) : _mm512_storeu_ps(out, floats);
}
template <bool kAround>
void Store(float* out, __m256 floats) {
  kAround ? _mm256_stream_ps(out, floats) : _mm256_storeu_ps(out, floats);
}

template <bool kAround>
void StoreEight(const uint8_t* bits, float* out) {
  Store<kAround>(out, _mm256_maskz_mov_ps(*bits, _mm256_set1_ps(1.0f)));
}

// Writes the floats of a position. kHead is 8 if eight floats come before the
// first of a cache line, else 0.
template <int kHead, bool kAround>
void ExpandChannelsFirst(const PositionBits& bits, float* out) {
  constexpr int kHeadBytes = kHead / 8;
  constexpr int kVectors = (kPlaneFloats - kHead) / 16;
  // Vectors that hold neighbours.
  constexpr int kFirst = (kRowOwnNeighbours * kNumSquares - kHead) / 16;
  constexpr int kLast =
      ((kRowEnemyNeighbours + 1) * kNumSquares - 1 - kHead) / 16;
  if (kHead == 8) StoreEight<kAround>(bits.planes, out);
  float* const aligned = out + kHead;
  const uint8_t* const planes = bits.planes + kHeadBytes;
#pragma GCC unroll 16
  for (int i = 0; i < kFirst; ++i) {
    Store<kAround>(aligned + 16 * i, Ones(planes + 2 * i));
  }
  for (int i = kFirst; i <= kLast; ++i) {
    const int byte = kHeadBytes + 2 * i - 2 * kNumSquares;
    __m512 floats = Ones(planes + 2 * i);
    floats = _mm512_mask_add_ps(floats, Mask16(bits.neighbours[0] + byte),
                                floats, _mm512_set1_ps(0.25f));
    floats = _mm512_mask_add_ps(floats, Mask16(bits.neighbours[1] + byte),
                                floats, _mm512_set1_ps(0.5f));
    Store<kAround>(aligned + 16 * i, floats);
  }
  for (int i = kLast + 1; i < kVectors; ++i) {
    Store<kAround>(aligned + 16 * i, Ones(planes + 2 * i));
  }
  if (kHead == 0)
    StoreEight<kAround>(bits.planes + kBitBytes - 1, out + kPlaneFloats - 8);
}

// Puts the own neighbours of a square at a lane, an odd one, and the enemy
// neighbours behind: a pair in every place where one may be, and a mask.
template <int kLane>
__m512 WithNeighbours(__m512 floats, uint8_t pair) {
  static_assert(kLane % 2 == 1);
  constexpr __mmask16 kLanes = 3 << kLane;
  double both;
  std::memcpy(&both, kNeighbourPairs.swapped[pair], sizeof(both));
  const __m512 pairs = _mm512_castpd_ps(_mm512_set1_pd(both));
  return _mm512_mask_mov_ps(floats, kLanes, pairs);
}

// Squares of 24 floats: three vectors are two squares.
template <int kHead, bool kAround>
void ExpandChannelsLast(const PositionBits& bits, float* out) {
  static_assert(kNumPlanes == 24);
  constexpr int kOwn = kRowOwnNeighbours;
  const uint8_t* planes = bits.planes;
  const uint8_t* pairs = bits.neighbours[0];
  if (kHead == 8) {
    // Begins with the last 16 planes of a square.
    StoreEight<kAround>(planes, out);
    planes += 1;
    out += 8;
#pragma GCC unroll 4
    for (int i = 0; i < kNumSquares / 2; ++i) {
      Store<kAround>(out, WithNeighbours<kOwn - 8>(Ones(planes), pairs[0]));
      Store<kAround>(out + 16, Ones(planes + 2));
      Store<kAround>(out + 32,
                     WithNeighbours<kOwn - 16>(Ones(planes + 4), pairs[1]));
      planes += 6;
      pairs += 2;
      out += 48;
    }
    Store<kAround>(out, WithNeighbours<kOwn - 8>(Ones(planes), pairs[0]));
    return;
  }
#pragma GCC unroll 4
  for (int i = 0; i < kNumSquares / 2; ++i) {
    Store<kAround>(out, Ones(planes));
    Store<kAround>(out + 16,
                   WithNeighbours<kOwn - 16>(Ones(planes + 2), pairs[0]));
    Store<kAround>(out + 32,
                   WithNeighbours<kOwn - 8>(Ones(planes + 4), pairs[1]));
    planes += 6;
    pairs += 2;
    out += 48;
  }
  Store<kAround>(out, Ones(planes));
  const __m512 last = WithNeighbours<kOwn - 16>(
      _mm512_maskz_mov_ps(planes[2], _mm512_set1_ps(1.0f)), pairs[0]);
  Store<kAround>(out + 16, _mm512_castps512_ps256(last));
}

template <bool kAround>
void ExpandPosition(bool channels_last, const PositionBits& bits, float* out) {
  const bool odd = reinterpret_cast<uintptr_t>(out) % 64 == 32;
  if (channels_last) {
    (odd ? ExpandChannelsLast<8, kAround>
         : ExpandChannelsLast<0, kAround>)(bits, out);
  } else {
    (odd ? ExpandChannelsFirst<8, kAround>
         : ExpandChannelsFirst<0, kAround>)(bits, out);
  }
}

}  // namespace tara::nn::encoder_avx512

#endif  // TARA_NN_ENCODE_ENCODER_FLOATS_AVX512_H_
