// This file alone is compiled for AVX-512: it may include no header whose code
// could take the place of the same code elsewhere, and runs only after a check
// of the processor (batch_encoder.cc).

#include <immintrin.h>

#include <array>
#include <cstdint>

#include "tara/core/board.h"
#include "tara/nn/encoder_block.h"
#include "tara/nn/features.h"

// False positives in intrinsics of g++ 12 (https://gcc.gnu.org/PR105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

namespace tara {
namespace {

struct Avx512;  // names the instruction set

using Bytes = std::array<uint8_t, 64>;
constexpr int kSide = kBoardSize;
constexpr int kPlaneFloats = kNumPlanes * kNumSquares;

constexpr NeighbourPairs kNeighbourPairs = MakeNeighbourPairs();

__m512i Load(const Bytes& bytes) { return _mm512_loadu_si512(bytes.data()); }

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
constexpr Bytes kRankShifts =
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
    turn.order[i] = order == 0x80 ? order
                                  : static_cast<uint8_t>(order + (i % 16) / 8 * 8);
    turn.factor[i] = factor;
  }
  return turn;
}
constexpr Turn kTurns[8] = {MakeTurn(0), MakeTurn(1), MakeTurn(2), MakeTurn(3),
                            MakeTurn(4), MakeTurn(5), MakeTurn(6), MakeTurn(7)};

// Returns eight boards, turned, as ranks in bytes; unused bits are zero. No
// branches: when training, the next transform is anyone's guess.
__m512i TurnedRanks(int transform, __m512i boards) {
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
constexpr Bytes kPackedDirect = MakeBytes(PackedDirect);
constexpr Bytes kPackedCarry = MakeBytes(PackedCarry);

// Returns the 8 x 49 bits of eight boards without gaps, in 49 bytes.
__m512i PackPlanes(__m512i ranks) {
  // Bytes of 7 bits become words of 14, those become 28, and those 49.
  const __m512i words =
      _mm512_maddubs_epi16(_mm512_set1_epi16(0x8001 - 0x10000), ranks);
  const __m512i halves = _mm512_madd_epi16(words, _mm512_set1_epi32(0x40000001));
  const __m512i low = _mm512_set1_epi64(0xfffffff);
  const __m512i boards = _mm512_or_si512(
      _mm512_and_si512(halves, low),
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
constexpr Bytes kByRank =
    MakeBytes([](int i) { return 8 * (7 - i % 8) + i / 8; });
constexpr Bytes kUnitBits = MakeBytes([](int i) { return 1 << (i % 8); });

// Returns eight boards by square: bit p of byte 8 r + f is board p's.
__m512i BySquare(__m512i ranks) {
  return _mm512_gf2p8affine_epi64_epi8(
      Load(kUnitBits), _mm512_permutexvar_epi8(Load(kByRank), ranks), 0);
}

constexpr int PaddedSquare(int square) {
  return 8 * (square / kSide) + square % kSide;
}
constexpr Bytes kSquares = MakeBytes(
    [](int i) { return i < kNumSquares ? PaddedSquare(i) : -1; });

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
__m512i Interleave(const __m512i (&groups)[4]) {
  static constexpr Bytes kTwo = MakeBytes(FromFirstTwo<kPart>);
  static constexpr Bytes kThird = MakeBytes(FromThird<kPart>);
  const __m512i two =
      _mm512_permutex2var_epi8(groups[0], Load(kTwo), groups[1]);
  return _mm512_mask_permutexvar_epi8(two, Used(FromThird<kPart>),
                                      Load(kThird), groups[2]);
}

// --- Floats ------------------------------------------------------------------

// PositionBits::neighbours, channels first: bits of the neighbours' planes of
// values 1 and 2, aligned with bytes 98 to 146 of the planes. Channels last:
// by square, the index into kNeighbourPairs.

// Loads a mask. From the intrinsic g++ 12 makes a load and a move from a
// general register, which takes twice as long.
__mmask16 Mask16(const uint8_t* bits) {
  struct TwoBytes {
    uint8_t bytes[2];
  };
  __mmask16 mask;
  asm("kmovw %1, %0"
      : "=k"(mask)
      : "m"(*reinterpret_cast<const TwoBytes*>(bits)));
  return mask;
}

__m512 Ones(const uint8_t* bits) {
  return _mm512_maskz_mov_ps(Mask16(bits), _mm512_set1_ps(1.0f));
}

void StoreEight(const uint8_t* bits, float* out) {
  _mm256_storeu_ps(out, _mm256_maskz_mov_ps(*bits, _mm256_set1_ps(1.0f)));
}

// Writes the floats of a position. kHead is 8 if eight floats come before the
// first of a cache line, else 0.
template <int kHead>
void ExpandChannelsFirst(const PositionBits& bits, float* out) {
  constexpr int kHeadBytes = kHead / 8;
  constexpr int kVectors = (kPlaneFloats - kHead) / 16;
  // Vectors that hold neighbours.
  constexpr int kFirst =
      (kRowOwnNeighbours * kNumSquares - kHead) / 16;
  constexpr int kLast =
      ((kRowEnemyNeighbours + 1) * kNumSquares - 1 - kHead) / 16;
  if (kHead == 8) StoreEight(bits.planes, out);
  float* const aligned = out + kHead;
  const uint8_t* const planes = bits.planes + kHeadBytes;
#pragma GCC unroll 16
  for (int i = 0; i < kFirst; ++i) {
    _mm512_storeu_ps(aligned + 16 * i, Ones(planes + 2 * i));
  }
  for (int i = kFirst; i <= kLast; ++i) {
    const int byte = kHeadBytes + 2 * i - 2 * kNumSquares;
    __m512 floats = Ones(planes + 2 * i);
    floats = _mm512_mask_add_ps(floats, Mask16(bits.neighbours[0] + byte), floats,
                                _mm512_set1_ps(0.25f));
    floats = _mm512_mask_add_ps(floats, Mask16(bits.neighbours[1] + byte), floats,
                                _mm512_set1_ps(0.5f));
    _mm512_storeu_ps(aligned + 16 * i, floats);
  }
  for (int i = kLast + 1; i < kVectors; ++i) {
    _mm512_storeu_ps(aligned + 16 * i, Ones(planes + 2 * i));
  }
  if (kHead == 0) StoreEight(bits.planes + kBitBytes - 1, out + kPlaneFloats - 8);
}

// Lane of a vector that begins `offset` planes into a square where the own
// neighbours of that square are, or of the next.
template <int kLane>
__m512 WithNeighbours(__m512 floats, uint8_t pair) {
  constexpr __mmask16 kLanes = 3 << kLane;
  return _mm512_mask_loadu_ps(floats, kLanes,
                              kNeighbourPairs.pairs[pair] - kLane);
}

// Squares of 24 floats: three vectors are two squares.
template <int kHead>
void ExpandChannelsLast(const PositionBits& bits, float* out) {
  static_assert(kNumPlanes == 24);
  constexpr int kOwn = kRowOwnNeighbours;
  const uint8_t* planes = bits.planes;
  const uint8_t* pairs = bits.neighbours[0];
  if (kHead == 8) {
    // Begins with the last 16 planes of a square.
    StoreEight(planes, out);
    planes += 1;
    out += 8;
  #pragma GCC unroll 4
  for (int i = 0; i < kNumSquares / 2; ++i) {
      _mm512_storeu_ps(out, WithNeighbours<kOwn - 8>(Ones(planes), pairs[0]));
      _mm512_storeu_ps(out + 16, Ones(planes + 2));
      _mm512_storeu_ps(
          out + 32, WithNeighbours<kOwn - 16>(Ones(planes + 4), pairs[1]));
      planes += 6;
      pairs += 2;
      out += 48;
    }
    _mm512_storeu_ps(out, WithNeighbours<kOwn - 8>(Ones(planes), pairs[0]));
    return;
  }
#pragma GCC unroll 4
  for (int i = 0; i < kNumSquares / 2; ++i) {
    _mm512_storeu_ps(out, Ones(planes));
    _mm512_storeu_ps(out + 16,
                     WithNeighbours<kOwn - 16>(Ones(planes + 2), pairs[0]));
    _mm512_storeu_ps(out + 32,
                     WithNeighbours<kOwn - 8>(Ones(planes + 4), pairs[1]));
    planes += 6;
    pairs += 2;
    out += 48;
  }
  _mm512_storeu_ps(out, Ones(planes));
  const __m512 last = WithNeighbours<kOwn - 16>(
      _mm512_maskz_mov_ps(planes[2], _mm512_set1_ps(1.0f)), pairs[0]);
  _mm256_storeu_ps(out + 16, _mm512_castps512_ps256(last));
}

// --- A block -----------------------------------------------------------------

// Rows by columns become columns by rows, in place: row i of a group of eight
// then holds that group's boards of position i.
void TransposeGroup(Board (*rows)[kBlockSize]) {
  __m512i r[8], a[8], b[8];
  for (int i = 0; i < 8; ++i) r[i] = _mm512_load_si512(rows[i]);
  for (int i = 0; i < 8; i += 2) {
    a[i] = _mm512_unpacklo_epi64(r[i], r[i + 1]);      // columns 0 2 4 6
    a[i + 1] = _mm512_unpackhi_epi64(r[i], r[i + 1]);  // columns 1 3 5 7
  }
  for (int i = 0; i < 8; i += 4) {
    for (int odd = 0; odd < 2; ++odd) {
      // Columns 0 and 4, and 2 and 6 (1 and 5, 3 and 7).
      b[i + odd] = _mm512_shuffle_i64x2(a[i + odd], a[i + odd + 2], 0x88);
      b[i + odd + 2] = _mm512_shuffle_i64x2(a[i + odd], a[i + odd + 2], 0xdd);
    }
  }
  for (int odd = 0; odd < 2; ++odd) {
    const __m512i low = b[odd], high = b[4 + odd];
    const __m512i low2 = b[2 + odd], high2 = b[6 + odd];
    _mm512_store_si512(rows[odd], _mm512_shuffle_i64x2(low, high, 0x88));
    _mm512_store_si512(rows[4 + odd], _mm512_shuffle_i64x2(low, high, 0xdd));
    _mm512_store_si512(rows[2 + odd], _mm512_shuffle_i64x2(low2, high2, 0x88));
    _mm512_store_si512(rows[6 + odd], _mm512_shuffle_i64x2(low2, high2, 0xdd));
  }
}

void PackChannelsFirst(const __m512i (&ranks)[4], PositionBits& bits) {
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

void PackChannelsLast(const __m512i (&ranks)[4], PositionBits& bits) {
  __m512i groups[4];
  for (int i = 0; i < 4; ++i) groups[i] = BySquare(ranks[i]);
  _mm512_store_si512(bits.planes, Interleave<0>(groups));
  _mm512_store_si512(bits.planes + 64, Interleave<1>(groups));
  _mm512_store_si512(bits.planes + 128, Interleave<2>(groups));
  _mm512_storeu_si512(bits.neighbours[0],
                      _mm512_permutexvar_epi8(Load(kSquares), groups[3]));
}

void Derive(EncoderBlock& block) {
  using Vector = BoardLanes<Avx512>::Vector;
  DeriveRows<Avx512>(block, [](Vector boards) {
    return reinterpret_cast<Vector>(
        _mm512_popcnt_epi64(reinterpret_cast<__m512i>(boards)));
  });
  for (int group = 0; group < 4; ++group) TransposeGroup(block.rows + 8 * group);
}

void Pack(bool channels_last, const EncoderBlock& block, int i,
          PositionBits& bits) {
  __m512i ranks[4];
  for (int group = 0; group < 4; ++group) {
    ranks[group] = TurnedRanks(block.transforms[i],
                               _mm512_load_si512(block.rows[8 * group + i]));
  }
  (channels_last ? PackChannelsLast : PackChannelsFirst)(ranks, bits);
  bits.own_components = static_cast<int32_t>(block.own_components[i]);
  bits.enemy_components = static_cast<int32_t>(block.enemy_components[i]);
}

void Expand(bool channels_last, const PositionBits& bits, float* out) {
  const bool odd = reinterpret_cast<uintptr_t>(out) % 64 == 32;
  if (channels_last) {
    (odd ? ExpandChannelsLast<8> : ExpandChannelsLast<0>)(bits, out);
  } else {
    (odd ? ExpandChannelsFirst<8> : ExpandChannelsFirst<0>)(bits, out);
  }
}

}  // namespace

EncoderKernel Avx512EncoderKernel() {
  return {.derive = Derive, .pack = Pack, .expand = Expand};
}

}  // namespace tara
