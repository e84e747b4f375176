#ifndef TARA_CORE_BATCH_PATTERNS_H_
#define TARA_CORE_BATCH_PATTERNS_H_

// Hills around the one king of each lane. As the patterns are meant to be cut
// down to some set of hills, they may hold bits that are no hills.

#include <cstdint>

#include "tara/core/batch/lanes.h"
#include "tara/core/board.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace tara::batch {

// The half of a pattern around bit 0 that lies above it.
constexpr uint64_t kKnightMovesNorth =
    (uint64_t{1} << 7) | (uint64_t{1} << 11) | (uint64_t{1} << 17) |
    (uint64_t{1} << 19);
constexpr uint64_t kTwoStepsNorth = (uint64_t{1} << 1) | (uint64_t{1} << 2) |
                                    (uint64_t{1} << 8) | (uint64_t{1} << 9) |
                                    (uint64_t{1} << 10) | (uint64_t{1} << 16) |
                                    (uint64_t{1} << 18) | (uint64_t{1} << 20);

#if defined(__AVX512VPOPCNTDQ__)
constexpr uint64_t Reversed(uint64_t bits) {
  uint64_t reversed = 0;
  for (int i = 0; i < 64; ++i) reversed |= ((bits >> i) & 1) << (63 - i);
  return reversed;
}

// Returns the hills of a pattern and its half turn around the one bit of each
// lane, none where there is none. Half as much as a shift for each of them.
template <uint64_t kPattern, InstructionSet kSet>
TARA_INLINE Word<kSet> PatternAround(Word<kSet> king) {
  // The pattern of bit 0, its half turn of bit 63, shifted to the king's bit.
  // Shifts by more than 63, as without a king, give 0. (The forms with a mask:
  // g++ 12 warns of the others.)
  constexpr auto kNorth = static_cast<long long>(kPattern);
  constexpr auto kSouth = static_cast<long long>(Reversed(kPattern));
  const __m512i bit = (__m512i)PopCount(king - Word<kSet>(1)).v;
  const __m512i north =
      _mm512_maskz_sllv_epi64(0xff, _mm512_set1_epi64(kNorth), bit);
  const __m512i south = _mm512_maskz_srlv_epi64(0xff, _mm512_set1_epi64(kSouth),
                                                _mm512_set1_epi64(63) - bit);
  return (typename Word<kSet>::Native)(north | south);
}
#endif

// Returns KnightMoves(king). REQUIRES: each lane holds one king or none.
template <InstructionSet kSet>
TARA_INLINE Word<kSet> KnightMovesOfOne(Word<kSet> king) {
#if defined(__AVX512VPOPCNTDQ__)
  if constexpr (kSet == InstructionSet::kAvx512) {
    return PatternAround<kKnightMovesNorth>(king);
  } else
#endif
    return KnightMoves(king);
}

// Returns the hills one or two steps from the king along a file, rank or
// diagonal. REQUIRES: each lane holds one king or none.
template <InstructionSet kSet>
TARA_INLINE Word<kSet> WithinTwoStepsOfOne(Word<kSet> king) {
#if defined(__AVX512VPOPCNTDQ__)
  if constexpr (kSet == InstructionSet::kAvx512) {
    return PatternAround<kTwoStepsNorth>(king);
  } else
#endif
    return Adjacent(king) | Diagonal(king) | TwoStepsStraight(king) |
           TwoStepsDiagonal(king);
}

}  // namespace tara::batch

#endif  // TARA_CORE_BATCH_PATTERNS_H_
