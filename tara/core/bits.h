#ifndef TARA_CORE_BITS_H_
#define TARA_CORE_BITS_H_

// Choosing among the bits of a word: an instruction with BMI2, else a loop.

#include <bit>
#include <cstdint>
#include <type_traits>
#include <utility>

#if defined(__BMI2__)
#include <immintrin.h>
#endif

namespace tara {

// Calls body(std::integral_constant<int, i>()) for i = 0 ... kCount - 1.
template <int kCount, typename Body>
constexpr void Unrolled(Body&& body) {
  [&]<int... i>(std::integer_sequence<int, i...>) {
    (body(std::integral_constant<int, i>()), ...);
  }(std::make_integer_sequence<int, kCount>());
}

// Returns the lowest bits of `bits` moved, in order, to the bits of `places`.
inline uint64_t BitsTo(uint64_t bits, uint64_t places) {
#if defined(__BMI2__)
  return _pdep_u64(bits, places);
#else
  uint64_t result = 0;
  for (; places != 0; places &= places - 1, bits >>= 1) {
    if (bits & 1) result |= places & (~places + 1);
  }
  return result;
#endif
}

// Returns the bits of `word` at the set bits of `places`, in order, as the
// lowest bits. The inverse of BitsTo.
inline uint64_t BitsAt(uint64_t word, uint64_t places) {
#if defined(__BMI2__)
  return _pext_u64(word, places);
#else
  uint64_t result = 0;
  for (int i = 0; places != 0; places &= places - 1, ++i) {
    result |= uint64_t{(word & places & (~places + 1)) != 0} << i;
  }
  return result;
#endif
}

// Returns the n-th lowest set bit of the word, as a word.
// REQUIRES: 0 <= n < popcount(word).
inline uint64_t NthBit(uint64_t word, int n) {
#if defined(__BMI2__)
  return _pdep_u64(uint64_t{1} << n, word);
#else
  for (; n > 0; --n) word &= word - 1;
  return word & (~word + 1);
#endif
}

// Pairs of adjacent hills, by their western and by their southern hills, as
// State::links_east and links_north and LegalSet's have them.
struct HillPairs {
  uint64_t east;
  uint64_t north;
};

// Returns the n-th bit of two words merged in order: by bit, `east` before
// `north`. REQUIRES: 0 <= n < popcount(east) + popcount(north).
inline HillPairs NthLink(uint64_t east, uint64_t north, int n) {
  constexpr uint64_t kEvenBits = 0x5555555555555555;
  constexpr uint64_t kOddBits = ~kEvenBits;
  constexpr int kHalf = 32;
  const uint64_t low = BitsTo(east, kEvenBits) | BitsTo(north, kOddBits);
  const uint64_t high =
      BitsTo(east >> kHalf, kEvenBits) | BitsTo(north >> kHalf, kOddBits);
  const int low_count = std::popcount(low);
  const bool in_high = n >= low_count;
  const uint64_t bit =
      NthBit(in_high ? high : low, in_high ? n - low_count : n);
  const int shift = in_high ? kHalf : 0;
  return {BitsAt(bit, kEvenBits) << shift, BitsAt(bit, kOddBits) << shift};
}

}  // namespace tara

#endif  // TARA_CORE_BITS_H_
