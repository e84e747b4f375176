// This file alone is compiled for AVX-512: it may include no header whose code
// could take the place of the same code elsewhere, and runs only after a check
// of the processor (batch_encoder.cc).

#include <immintrin.h>

#include <array>
#include <cstdint>
#include <cstring>

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

// Rows by columns become columns by rows, in place.
void Transpose(__m512i (&r)[8]) {
  __m512i a[8], b[8];
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
  for (int i = 0; i < 4; ++i) {
    r[i] = _mm512_shuffle_i64x2(b[i], b[4 + i], 0x88);
    r[4 + i] = _mm512_shuffle_i64x2(b[i], b[4 + i], 0xdd);
  }
}

// Row i of a group of eight then holds that group's boards of position i.
void TransposeGroup(Board (*rows)[kBlockSize]) {
  __m512i r[8];
  for (int i = 0; i < 8; ++i) r[i] = _mm512_load_si512(rows[i]);
  Transpose(r);
  for (int i = 0; i < 8; ++i) _mm512_store_si512(rows[i], r[i]);
}

// --- Loading: states and legal sets as words, eight positions side by side ---

__m512i Or(__m512i a, __m512i b) { return _mm512_or_si512(a, b); }
__m512i Or(__m512i a, __m512i b, __m512i c) {
  return _mm512_ternarylogic_epi64(a, b, c, 0xfe);
}

// Returns byte `n` of the words.
template <int n>
__m512i ByteOf(__m512i words) {
  return _mm512_and_si512(_mm512_srli_epi64(words, 8 * n),
                          _mm512_set1_epi64(0xff));
}

// Which of the variants are in the set.
__mmask8 AreIn(uint64_t set, __m512i variants) {
  return _mm512_test_epi64_mask(
      _mm512_sllv_epi64(_mm512_set1_epi64(1), variants),
      _mm512_set1_epi64(static_cast<int64_t>(set)));
}

void StoreRow(Board (&row)[kBlockSize], __m512i boards) {
  _mm512_store_si512(row, boards);
}

// As BeforeTransform of batch_encoder.cc.
void StorePairs(__m512i transforms, __m512i east, __m512i north,
                Board (&row_east)[kBlockSize], Board (&row_north)[kBlockSize]) {
  const __mmask8 flip_files =
      _mm512_test_epi64_mask(transforms, _mm512_set1_epi64(1));
  const __mmask8 flip_ranks =
      _mm512_test_epi64_mask(transforms, _mm512_set1_epi64(2));
  const __mmask8 transpose =
      _mm512_test_epi64_mask(transforms, _mm512_set1_epi64(4));
  const __m512i one = _mm512_set1_epi64(1);
  const __m512i rank = _mm512_set1_epi64(kRankStride);
  const __m512i files = _mm512_mask_blend_epi64(transpose, one, rank);
  const __m512i ranks = _mm512_mask_blend_epi64(transpose, rank, one);
  const __m512i first = _mm512_mask_blend_epi64(transpose, east, north);
  const __m512i second = _mm512_mask_blend_epi64(transpose, north, east);
  StoreRow(row_east, _mm512_mask_sllv_epi64(first, flip_files, first, files));
  StoreRow(row_north,
           _mm512_mask_sllv_epi64(second, flip_ranks, second, ranks));
}

// Adds what one king may do.
struct KingMoveBoards {
  __m512i origins, destinations, sacrifices;
};
void AddKing(__m512i bits, __m512i origin, __m512i moves, __m512i sacrifices,
             KingMoveBoards& boards) {
  const __mmask8 any = _mm512_test_epi64_mask(moves, moves);
  // Of the origins, numbers of 32 bits, only the low bytes matter.
  const __m512i bit = _mm512_maskz_permutexvar_epi8(0x0101010101010101,
                                                    origin, bits);
  const __m512i board = _mm512_sllv_epi64(_mm512_set1_epi64(1), bit);
  boards.origins = _mm512_mask_or_epi64(boards.origins, any, boards.origins,
                                        board);
  boards.destinations = Or(boards.destinations, moves);
  boards.sacrifices = Or(boards.sacrifices, sacrifices);
}

bool LoadBlock(const EncoderTables& tables, const BlockInput& input,
               EncoderBlock& block) {
  constexpr int kStateBytes = 64, kLegalBytes = 104;
  const auto* const states = reinterpret_cast<const uint8_t*>(input.states);
  const auto* const legal = reinterpret_cast<const uint8_t*>(input.legal);
  __m512i s[8], l[8], m[8];
  for (int i = 0; i < kBlockSize; ++i) {
    const int from = i < input.count ? i : input.count - 1;
    s[i] = _mm512_loadu_si512(states + kStateBytes * from);
    l[i] = _mm512_loadu_si512(legal + kLegalBytes * from);
    m[i] = _mm512_maskz_loadu_epi64(0x1f, legal + kLegalBytes * from + 64);
  }
  Transpose(s);
  Transpose(l);
  Transpose(m);
  // Two bytes each; the last one is repeated.
  const __m128i symmetries = _mm_permutexvar_epi16(
      _mm_min_epi16(_mm_set_epi16(7, 6, 5, 4, 3, 2, 1, 0),
                    _mm_set1_epi16(static_cast<int16_t>(input.count - 1))),
      _mm_maskz_loadu_epi16(static_cast<__mmask8>((1 << input.count) - 1),
                            input.symmetries));
  const __m512i symmetry = _mm512_cvtepu16_epi64(symmetries);
  const __m512i transforms = ByteOf<0>(symmetry);
  const __m512i variants = ByteOf<0>(s[6]);
  const __m512i seats = ByteOf<2>(s[6]);
  const __mmask8 doubles = AreIn(tables.doubles, variants);
  const __mmask8 blue = _mm512_test_epi64_mask(seats, _mm512_set1_epi64(1));
  const __m512i own = _mm512_mask_blend_epi64(blue, s[0], s[1]);
  const __m512i enemy = _mm512_mask_blend_epi64(blue, s[1], s[0]);

  _mm_storel_epi64(reinterpret_cast<__m128i*>(block.transforms),
                   _mm512_cvtepi64_epi8(transforms));
  StoreRow(block.rows[kRowOwn], own);
  StoreRow(block.rows[kRowEnemy], enemy);
  StoreRow(block.rows[kRowOwnKings], _mm512_mask_blend_epi64(blue, s[2], s[3]));
  StoreRow(block.rows[kRowEnemyKings],
           _mm512_mask_blend_epi64(blue, s[3], s[2]));
  StorePairs(transforms, s[4], s[5], block.rows[kRowLinksEast],
             block.rows[kRowLinksNorth]);
  const __m512i linked = Or(
      s[4], s[5],
      Or(_mm512_slli_epi64(s[4], 1), _mm512_slli_epi64(s[5], kRankStride)));
  _mm512_store_si512(block.linked, linked);
  _mm512_store_si512(
      block.by_links,
      _mm512_movm_epi64(AreIn(tables.by_links, variants)));
  _mm512_store_si512(
      block.by_kings,
      _mm512_movm_epi64(AreIn(tables.by_kings, variants)));
  StoreRow(block.rows[kRowArea],
           _mm512_mask_permutexvar_epi64(
               _mm512_set1_epi64(static_cast<int64_t>(kAllHills)), doubles,
               transforms, _mm512_load_si512(tables.souths)));

  StoreRow(block.rows[kRowLegalHills], l[0]);
  StorePairs(transforms, m[2], m[3], block.rows[kRowLegalLinksEast],
             block.rows[kRowLegalLinksNorth]);
  const __m512i bits = _mm512_load_si512(tables.bits);
  KingMoveBoards kings = {};
  AddKing(bits, l[1], l[2], l[3], kings);
  AddKing(bits, l[4], l[5], l[6], kings);
  AddKing(bits, l[7], m[0], m[1], kings);
  StoreRow(block.rows[kRowLegalOrigins], kings.origins);
  StoreRow(block.rows[kRowLegalDestinations], kings.destinations);
  StoreRow(block.rows[kRowLegalSacrifices], kings.sacrifices);

  const __m512i pass = ByteOf<0>(m[4]);
  __m512i count = pass;
  for (const __m512i& board : {l[0], l[2], l[3], l[5], l[6], m[0], m[1], m[2],
                               m[3]}) {
    count = _mm512_add_epi64(count, _mm512_popcnt_epi64(board));
  }
  _mm512_store_si512(block.sides[0], own);
  _mm512_store_si512(block.sides[1], enemy);
  _mm512_store_si512(block.state_words[0], s[6]);
  _mm512_store_si512(block.state_words[1], s[7]);
  _mm512_store_si512(block.legal_counts, count);
  _mm512_store_si512(block.legal_pass, pass);
  const __m512i last_seat = _mm512_mask_blend_epi64(
      doubles, _mm512_set1_epi64(1), _mm512_set1_epi64(3));
  return _mm512_test_epi64_mask(
             _mm512_add_epi64(seats, ByteOf<1>(symmetry)), last_seat) == 0;
}

// --- Globals -----------------------------------------------------------------

__m256 Float(__m512i numbers) { return _mm512_cvtepi64_ps(numbers); }
__m256 Float(__mmask8 mask) {
  return _mm256_maskz_mov_ps(mask, _mm256_set1_ps(1));
}
__m256 Quotient(__m512i numbers, float divisor) {
  return _mm256_div_ps(Float(numbers), _mm256_set1_ps(divisor));
}
__mmask8 Are(__m512i numbers, int n) {
  return _mm512_cmpeq_epi64_mask(numbers, _mm512_set1_epi64(n));
}

// The number of adjacent pairs, at most 40 (kMaxBridges).
__m512i CountBridges(__m512i board) {
  const __m512i east =
      _mm512_and_si512(board, _mm512_slli_epi64(board, 1));
  const __m512i north =
      _mm512_and_si512(board, _mm512_slli_epi64(board, kRankStride));
  return _mm512_min_epu64(_mm512_add_epi64(_mm512_popcnt_epi64(east),
                                           _mm512_popcnt_epi64(north)),
                          _mm512_set1_epi64(40));
}

// Own minus enemy points as the positions stand; as Score of outcome.cc.
__m512i Margin(__m512i first_lead, __m512i territory_lead, __m512i own_captured,
               __m512i enemy_captured) {
  const __m512i zero = _mm512_setzero_si512(), two = _mm512_set1_epi64(2);
  const __m512i captured = _mm512_sub_epi64(own_captured, enemy_captured);
  const __m512i lead = _mm512_mask_blend_epi64(
      _mm512_test_epi64_mask(first_lead, first_lead), territory_lead,
      first_lead);
  __m512i margin = _mm512_add_epi64(lead, captured);
  margin = _mm512_mask_add_epi64(margin, _mm512_cmpgt_epi64_mask(lead, zero),
                                 margin, two);
  margin = _mm512_mask_sub_epi64(margin, _mm512_cmplt_epi64_mask(lead, zero),
                                 margin, two);
  margin = _mm512_maskz_mov_epi64(_mm512_test_epi64_mask(lead, lead), margin);
  const __mmask8 decided =
      _mm512_cmpge_epu64_mask(_mm512_max_epu64(own_captured, enemy_captured),
                              two);
  return _mm512_mask_mov_epi64(margin, decided, captured);
}

// Sixteen floats from each position: rows of values[i] become columns.
struct SixteenFloats {
  __m512 of[kBlockSize];
};
SixteenFloats TransposeFloats(const __m256* values) {
  __m512 part[2][4];  // four values of each position, and the four after them
  for (int half = 0; half < 2; ++half) {
    __m512 r[4];
    for (int i = 0; i < 4; ++i) {
      r[i] = _mm512_insertf32x8(_mm512_castps256_ps512(values[8 * half + i]),
                                values[8 * half + 4 + i], 1);
    }
    const __m512d a = _mm512_castps_pd(_mm512_unpacklo_ps(r[0], r[1]));
    const __m512d b = _mm512_castps_pd(_mm512_unpackhi_ps(r[0], r[1]));
    const __m512d c = _mm512_castps_pd(_mm512_unpacklo_ps(r[2], r[3]));
    const __m512d d = _mm512_castps_pd(_mm512_unpackhi_ps(r[2], r[3]));
    part[half][0] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, c));
    part[half][1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, c));
    part[half][2] = _mm512_castpd_ps(_mm512_unpacklo_pd(b, d));
    part[half][3] = _mm512_castpd_ps(_mm512_unpackhi_pd(b, d));
  }
  SixteenFloats floats;
  for (int i = 0; i < 4; ++i) {
    floats.of[i] = _mm512_shuffle_f32x4(part[0][i], part[1][i], 0x88);
    floats.of[4 + i] = _mm512_shuffle_f32x4(part[0][i], part[1][i], 0xdd);
  }
  return floats;
}

// The order is that of kGlobals.
void StoreGlobals(const EncoderTables& tables, const BlockInput& input,
                  const EncoderBlock& block, float* out) {
  const __m512i word = _mm512_load_si512(block.state_words[0]);
  const __m512i options = _mm512_load_si512(block.state_words[1]);
  const __m512i own = _mm512_load_si512(block.sides[0]);
  const __m512i enemy = _mm512_load_si512(block.sides[1]);
  const __m512i own_kingdoms = _mm512_load_si512(block.own_components);
  const __m512i enemy_kingdoms = _mm512_load_si512(block.enemy_components);
  const __m512i variants = ByteOf<0>(word);
  const __m512i phase = ByteOf<1>(word);
  const __m512i ending = ByteOf<3>(word);
  const __mmask8 blue =
      _mm512_test_epi64_mask(word, _mm512_set1_epi64(1 << 16));
  const __m512i red_captured = ByteOf<6>(word), blue_captured = ByteOf<7>(word);
  const __m512i own_captured =
      _mm512_mask_blend_epi64(blue, red_captured, blue_captured);
  const __m512i enemy_captured =
      _mm512_mask_blend_epi64(blue, blue_captured, red_captured);
  const __m512i own_territory = _mm512_popcnt_epi64(own);
  const __m512i enemy_territory = _mm512_popcnt_epi64(enemy);
  const __m512i own_bridges = CountBridges(own);
  const __m512i enemy_bridges = CountBridges(enemy);
  const __m512i vacant = _mm512_sub_epi64(
      _mm512_set1_epi64(kNumHills),
      _mm512_add_epi64(own_territory, enemy_territory));
  const __m512i first_lead = _mm512_mask_sub_epi64(
      _mm512_sub_epi64(enemy_kingdoms, own_kingdoms),
      AreIn(tables.by_bridges, variants), own_bridges, enemy_bridges);
  const __m512i margin =
      Margin(first_lead, _mm512_sub_epi64(own_territory, enemy_territory),
             own_captured, enemy_captured);

  constexpr int kVariantValues = 10, kPhaseValues = 4;
  static_assert(kNumGlobals == 38);
  __m256 values[48];
  __m256* next = values;
  for (int i = 0; i < kVariantValues; ++i) *next++ = Float(Are(variants, i));
  for (int i = 0; i < kPhaseValues; ++i) *next++ = Float(Are(phase, i));
  *next++ = Float(AreIn(tables.doubles, variants));
  *next++ = Quotient(ByteOf<0>(options), 40);
  *next++ = Quotient(ByteOf<1>(options), 5);
  *next++ = Float(ByteOf<2>(options));
  *next++ = Float(ByteOf<3>(options));
  *next++ = Float(ByteOf<4>(options));
  *next++ = _mm256_div_ps(Float(ByteOf<5>(word)), Float(ByteOf<0>(options)));
  *next++ = Float(Are(ending, 1));
  *next++ = Float(Are(ending, 3));
  *next++ = Float(Are(ending, 4));
  *next++ = Quotient(ByteOf<4>(word), 3);
  *next++ = Quotient(own_captured, 3);
  *next++ = Quotient(enemy_captured, 3);
  *next++ = Quotient(vacant, 45);
  *next++ = Quotient(own_territory, 23);
  *next++ = Quotient(enemy_territory, 23);
  *next++ = Quotient(own_kingdoms, 10);
  *next++ = Quotient(enemy_kingdoms, 10);
  *next++ = Quotient(own_bridges, 40);
  *next++ = Quotient(enemy_bridges, 40);
  *next++ = Quotient(margin, 10);
  *next++ = Float(_mm512_max_epi64(
      _mm512_min_epi64(margin, _mm512_set1_epi64(1)), _mm512_set1_epi64(-1)));
  *next++ = Quotient(_mm512_load_si512(block.legal_counts), 45);
  *next++ = Float(_mm512_load_si512(block.legal_pass));

  while (next != values + 48) *next++ = _mm256_setzero_ps();
  const SixteenFloats first = TransposeFloats(values);
  const SixteenFloats second = TransposeFloats(values + 16);
  const SixteenFloats third = TransposeFloats(values + 32);
  for (int i = 0; i < input.count; ++i) {
    float* const globals = out + kNumGlobals * i;
    _mm512_storeu_ps(globals, first.of[i]);
    _mm512_storeu_ps(globals + 16, second.of[i]);
    _mm512_mask_storeu_ps(globals + 32, 0x3f, third.of[i]);
  }
}

// --- Packing -----------------------------------------------------------------

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
  return {.load = LoadBlock,
          .globals = StoreGlobals,
          .derive = Derive,
          .pack = Pack,
          .expand = Expand};
}

}  // namespace tara
