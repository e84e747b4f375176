#ifndef TARA_CORE_BATCH_AVX512_FORMS_H_
#define TARA_CORE_BATCH_AVX512_FORMS_H_

// Faster forms of formulas of the rules for lanes of AVX-512, which the rules
// then call. Each has its simple twin, for all other words, under the same
// name; tests/core/batch_test.cc compares the games.

#include <cstdint>

#include "tara/core/batch/lanes.h"
#include "tara/core/board.h"

#if defined(__AVX512VBMI__)
#include <immintrin.h>

namespace tara::batch {

// --- Hills around the one king of each lane (tara/core/board.h) --------------

// The half of a pattern around bit 0 that lies above it.
constexpr uint64_t kKnightMovesNorth =
    (uint64_t{1} << 7) | (uint64_t{1} << 11) | (uint64_t{1} << 17) |
    (uint64_t{1} << 19);
constexpr uint64_t kTwoStepsNorth = (uint64_t{1} << 1) | (uint64_t{1} << 2) |
                                    (uint64_t{1} << 8) | (uint64_t{1} << 9) |
                                    (uint64_t{1} << 10) | (uint64_t{1} << 16) |
                                    (uint64_t{1} << 18) | (uint64_t{1} << 20);

constexpr uint64_t Reversed(uint64_t bits) {
  uint64_t reversed = 0;
  for (int i = 0; i < 64; ++i) reversed |= ((bits >> i) & 1) << (63 - i);
  return reversed;
}

// Returns the hills of a pattern and its half turn around the one bit of each
// lane; none for lanes without a bit. Half the work of two shifts.
template <uint64_t kPattern>
TARA_INLINE Avx512Word PatternAround(Avx512Word king) {
  // The pattern of bit 0, its half turn of bit 63, shifted to the king's bit.
  // Shifts by more than 63, as without a king, give 0. (The forms with a mask:
  // g++ 12 warns of the others.)
  constexpr auto kNorth = static_cast<long long>(kPattern);
  constexpr auto kSouth = static_cast<long long>(Reversed(kPattern));
  const __m512i bit = (__m512i)Count(king - Avx512Word(1)).v;
  const __m512i north =
      _mm512_maskz_sllv_epi64(0xff, _mm512_set1_epi64(kNorth), bit);
  const __m512i south = _mm512_maskz_srlv_epi64(0xff, _mm512_set1_epi64(kSouth),
                                                _mm512_set1_epi64(63) - bit);
  return (Avx512Word::Native)(north | south);
}

TARA_INLINE Avx512Word KnightMovesOfOne(Avx512Word king) {
  return PatternAround<kKnightMovesNorth>(king);
}

TARA_INLINE Avx512Word WithinTwoStepsOfOne(Avx512Word king) {
  return PatternAround<kTwoStepsNorth>(king);
}

// --- Rows of Poisoned Chalice (tara/core/rules/poisoned_chalice.h) -----------
//
// Counted line by line in bytes: 46 instead of 113 vector instructions a turn.

// The ranks' squares, a byte each.
TARA_INLINE __m512i RankBytes(Avx512Word hills) {
  const __m512i first_squares = _mm512_set1_epi64(0x00362d241b120900);
  return _mm512_maskz_multishift_epi64_epi8(0x7f7f7f7f7f7f7f7f, first_squares,
                                            (__m512i)hills.v);
}

// The files' squares, a byte each: the transposed matrix of bits.
TARA_INLINE __m512i FileBytes(Avx512Word hills) {
  const __m512i unit = _mm512_set1_epi64(0x8040201008040201);
  return _mm512_gf2p8affine_epi64_epi8(unit, RankBytes(hills), 0);
}

// Returns bytes of `marks` for lines of 1 <= enemies and own <= enemies.
TARA_INLINE __m512i MarkQualified(__m512i own, __m512i enemy, uint64_t marks) {
  const __m512i mine = _mm512_popcnt_epi8(own);
  const __m512i theirs = _mm512_popcnt_epi8(enemy);
  const __mmask64 some = _mm512_test_epi8_mask(theirs, theirs);
  return _mm512_maskz_mov_epi8(_mm512_mask_cmple_epu8_mask(some, mine, theirs),
                               _mm512_set1_epi64(static_cast<int64_t>(marks)));
}

TARA_INLINE Avx512Word QualifiedFiles(Avx512Word own, Avx512Word enemy) {
  const __m512i marks =
      MarkQualified(FileBytes(own), FileBytes(enemy), 0x0040201008040201);
  // Side by side in the first rank; then, byte for byte, in every rank.
  const Avx512Word rank =
      (Avx512Word::Native)_mm512_sad_epu8(marks, _mm512_setzero_si512());
  const Avx512Word two_ranks = rank | (rank << kRankStride);
  return (Avx512Word::Native)_mm512_maskz_multishift_epi64_epi8(
      ~uint64_t{0}, _mm512_set1_epi64(0x0203040506070800),
      (__m512i)two_ranks.v);
}

TARA_INLINE Avx512Word QualifiedRanks(Avx512Word own, Avx512Word enemy) {
  // First squares: bit 9 r lies in byte r.
  const Avx512Word lines = (Avx512Word::Native)MarkQualified(
      RankBytes(own), RankBytes(enemy), 0x0040201008040201);
  // From each first square on, seven ones.
  return (lines << kBoardSize) - lines;
}

}  // namespace tara::batch

#endif

#endif  // TARA_CORE_BATCH_AVX512_FORMS_H_
