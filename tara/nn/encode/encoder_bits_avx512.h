#ifndef TARA_NN_ENCODE_ENCODER_BITS_AVX512_H_
#define TARA_NN_ENCODE_ENCODER_BITS_AVX512_H_

// The AVX-512 path of the batch encoder, second part: boards are turned and
// become bits in the output's order. For batch_encoder_avx512.cc alone.

#include <immintrin.h>

#include <array>
#include <cstdint>

#include "tara/core/batch/lanes.h"
#include "tara/core/board.h"
#include "tara/nn/encode/encoder_block.h"
#include "tara/nn/encode/features.h"

namespace tara::nn::encoder_avx512 {

using Bytes = std::array<uint8_t, 64>;
inline constexpr int kSide = kBoardSize;

TARA_INLINE __m512i Load(const Bytes& bytes) {
  return _mm512_loadu_si512(bytes.data());
}

// Returns f(i) for each byte i, where that is not negative, else 0; `Used`
// tells which.
template <typename Function>
constexpr Bytes MakeBytes(Function f) {
  Bytes bytes{};
  for (int i = 0; i < 64; ++i) {
    bytes[i] = f(i) < 0 ? 0 : static_cast<uint8_t>(f(i));
  }
  return bytes;
}
template <typename Function>
constexpr uint64_t Used(Function f) {
  uint64_t used = 0;
  for (int i = 0; i < 64; ++i) used |= uint64_t{f(i) >= 0} << i;
  return used;
}

// --- Eight boards in one register, a byte for each rank ----------------------

// Byte r of each board takes the bits of rank r; the eighth byte is unused.
inline constexpr Bytes kRankShifts =
    MakeBytes([](int i) { return kRankStride * (i % 8); });

// Boards with their ranks in bytes, turned: first the bytes change places,
// then the bits of each board are multiplied with a matrix. gf2p8affine
// computes, of each byte x of its first and the eight bytes A of its second
// operand,  bit i of the result = parity(x & A[7 - i]).
struct Turn {
  Bytes order;   // of the bytes, by their 8; 0x80 is 0
  Bytes factor;  // x for boards as A if transposing, else A for boards as x
};

constexpr Turn MakeTurn(int transform) {
  const bool flip_files = (transform & 1) != 0;
  const bool flip_ranks = (transform & 2) != 0;
  Turn turn{};
  for (int i = 0; i < 64; ++i) {
    const int n = i % 8;
    uint8_t order = 0x80, factor = 0;
    if ((transform & 4) != 0) {
      // Bit f of byte r of the result is bit (file) of A[7 - f]: file comes
      // from r, and A[7 - f] is the rank that comes from f.
      if (n > 0) order = static_cast<uint8_t>(flip_files ? n - 1 : 7 - n);
      if (n < 7) factor = static_cast<uint8_t>(1 << (flip_ranks ? 6 - n : n));
    } else {
      if (n < 7) order = static_cast<uint8_t>(flip_ranks ? 6 - n : n);
      if (n > 0) {
        factor = static_cast<uint8_t>(1 << (flip_files ? n - 1 : 7 - n));
      }
    }
    // vpshufb counts bytes within each 16.
    turn.order[i] =
        order == 0x80 ? order : static_cast<uint8_t>(order + (i % 16) / 8 * 8);
    turn.factor[i] = factor;
  }
  return turn;
}
inline constexpr Turn kTurns[8] = {MakeTurn(0), MakeTurn(1), MakeTurn(2),
                                   MakeTurn(3), MakeTurn(4), MakeTurn(5),
                                   MakeTurn(6), MakeTurn(7)};

// Returns eight boards, turned, as ranks in bytes; unused bits are zero. No
// branches: when training, the next transform is anyone's guess.
TARA_INLINE __m512i TurnedRanks(int transform, __m512i boards) {
  const __m512i ranks = _mm512_maskz_multishift_epi64_epi8(
      0x7f7f7f7f7f7f7f7f, Load(kRankShifts), boards);
  const Turn& turn = kTurns[transform];
  const __m512i ordered = _mm512_shuffle_epi8(ranks, Load(turn.order));
  const __m512i factor = Load(turn.factor);
  const __mmask8 transpose = static_cast<__mmask8>(-(transform >> 2));
  return _mm512_mask_blend_epi64(
      transpose, _mm512_gf2p8affine_epi64_epi8(ordered, factor, 0),
      _mm512_gf2p8affine_epi64_epi8(factor, ordered, 0));
}

// --- Bits, channels first: 8 planes of 49 bits are 49 bytes ------------------

constexpr int PackedDirect(int i) {
  return i < 48 ? 8 * (i / 6) + i % 6 : (i == 48 ? 8 * 7 + 6 : -1);
}
constexpr int PackedCarry(int i) {
  return i > 0 && i < 48 && i % 6 == 0 ? 8 * (i / 6 - 1) + 6 : -1;
}
inline constexpr Bytes kPackedDirect = MakeBytes(PackedDirect);
inline constexpr Bytes kPackedCarry = MakeBytes(PackedCarry);

// Returns the 8 x 49 bits of eight boards without gaps, in 49 bytes.
TARA_INLINE __m512i PackPlanes(__m512i ranks) {
  // Bytes of 7 bits become words of 14, those become 28, and those 49.
  const __m512i words =
      _mm512_maddubs_epi16(_mm512_set1_epi16(0x8001 - 0x10000), ranks);
  const __m512i halves =
      _mm512_madd_epi16(words, _mm512_set1_epi32(0x40000001));
  const __m512i low = _mm512_set1_epi64(0xfffffff);
  const __m512i boards =
      _mm512_or_si512(_mm512_and_si512(halves, low),
                      _mm512_andnot_si512(low, _mm512_srli_epi64(halves, 4)));
  // Board j begins in bit j of byte 6 j.
  const __m512i shifted =
      _mm512_sllv_epi64(boards, _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0));
  const __m512i direct = _mm512_maskz_permutexvar_epi8(
      Used(PackedDirect), Load(kPackedDirect), shifted);
  const __m512i carry = _mm512_maskz_permutexvar_epi8(
      Used(PackedCarry), Load(kPackedCarry), shifted);
  return _mm512_or_si512(direct, carry);
}

// --- Bits, channels last: 49 squares of 3 bytes ------------------------------

// Byte 7 - p of qword r is the byte of board p and rank r: the matrix that
// gf2p8affine transposes.
inline constexpr Bytes kByRank =
    MakeBytes([](int i) { return 8 * (7 - i % 8) + i / 8; });
inline constexpr Bytes kUnitBits =
    MakeBytes([](int i) { return 1 << (i % 8); });

// Returns eight boards by square: bit p of byte 8 r + f is board p's.
TARA_INLINE __m512i BySquare(__m512i ranks) {
  return _mm512_gf2p8affine_epi64_epi8(
      Load(kUnitBits), _mm512_permutexvar_epi8(Load(kByRank), ranks), 0);
}

constexpr int PaddedSquare(int square) {
  return 8 * (square / kSide) + square % kSide;
}
inline constexpr Bytes kSquares =
    MakeBytes([](int i) { return i < kNumSquares ? PaddedSquare(i) : -1; });

// Byte `i` of the squares of three groups of planes: where it comes from.
template <int kPart>
constexpr int FromFirstTwo(int i) {
  const int byte = 64 * kPart + i;
  const int group = byte % 3;
  return byte < kBitBytes && group < 2 ? 64 * group + PaddedSquare(byte / 3)
                                       : -1;
}
template <int kPart>
constexpr int FromThird(int i) {
  const int byte = 64 * kPart + i;
  return byte < kBitBytes && byte % 3 == 2 ? PaddedSquare(byte / 3) : -1;
}

template <int kPart>
TARA_INLINE __m512i Interleave(const __m512i (&groups)[4]) {
  static constexpr Bytes kTwo = MakeBytes(FromFirstTwo<kPart>);
  static constexpr Bytes kThird = MakeBytes(FromThird<kPart>);
  const __m512i two =
      _mm512_permutex2var_epi8(groups[0], Load(kTwo), groups[1]);
  return _mm512_mask_permutexvar_epi8(two, Used(FromThird<kPart>), Load(kThird),
                                      groups[2]);
}

// --- Packing -----------------------------------------------------------------

TARA_INLINE void PackChannelsFirst(const __m512i (&ranks)[4],
                                   PositionBits& bits) {
  for (int group = 0; group < 3; ++group) {
    _mm512_storeu_si512(bits.planes + kNumSquares * group,
                        PackPlanes(ranks[group]));
  }
  constexpr int kPlaces = 3 << (kRowOwnNeighbours - 16);
  const __m512i ones = _mm512_maskz_mov_epi64(kPlaces, ranks[3]);
  const __m512i twos = _mm512_maskz_permutexvar_epi64(
      kPlaces, _mm512_set_epi64(0, 3, 2, 0, 0, 0, 0, 0), ranks[3]);
  _mm512_storeu_si512(bits.neighbours[0], PackPlanes(ones));
  _mm512_storeu_si512(bits.neighbours[1], PackPlanes(twos));
}

TARA_INLINE void PackChannelsLast(const __m512i (&ranks)[4],
                                  PositionBits& bits) {
  __m512i groups[4];
  for (int i = 0; i < 4; ++i) groups[i] = BySquare(ranks[i]);
  _mm512_store_si512(bits.planes, Interleave<0>(groups));
  _mm512_store_si512(bits.planes + 64, Interleave<1>(groups));
  _mm512_store_si512(bits.planes + 128, Interleave<2>(groups));
  _mm512_storeu_si512(bits.neighbours[0],
                      _mm512_permutexvar_epi8(Load(kSquares), groups[3]));
}

}  // namespace tara::nn::encoder_avx512

#endif  // TARA_NN_ENCODE_ENCODER_BITS_AVX512_H_
