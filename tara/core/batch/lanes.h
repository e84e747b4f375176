#ifndef TARA_CORE_BATCH_LANES_H_
#define TARA_CORE_BATCH_LANES_H_

// 64-bit lanes: the boards (or counts) that a register holds, side by side.
//
// One source for every instruction set: each function is written once for all,
// and overloaded where an instruction set has better instructions for it. A
// unit kernels_*.cc is compiled with the flags of its instruction set and names
// it as template argument, so that nothing compiled for AVX-512 can be linked
// into code that runs elsewhere. Hence these headers call no inline function
// that others may call too (such as std::min). All functions are inlined.
//
//   Word   lanes of uint64_t: | & ^ ~ + - * << >> lane by lane
//   Mask   lanes of bool (a mask register with AVX-512, else all-ones words)
//
// A Word is a BoardWord (tara/core/board.h): functions of the same names exist
// for one Board, so that the rules are written for both.

#include <cstdint>

#include "tara/core/board.h"
#include "tara/core/instruction_set.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace tara::batch {

constexpr int LanesOf(InstructionSet set) {
  return set == InstructionSet::kAvx512 ? 8
         : set == InstructionSet::kAvx2 ? 4
                                        : 2;
}

// What holds the lanes of a Word and of a Mask.
template <InstructionSet kSet>
struct NativeOf;
template <>
struct NativeOf<InstructionSet::kPortable> {
  typedef uint64_t Type __attribute__((vector_size(16)));
  using MaskType = Type;
};
template <>
struct NativeOf<InstructionSet::kAvx2> {
  typedef uint64_t Type __attribute__((vector_size(32)));
  using MaskType = Type;
};
template <>
struct NativeOf<InstructionSet::kAvx512> {
  typedef uint64_t Type __attribute__((vector_size(64)));
  using MaskType = uint8_t;
};

template <InstructionSet kSet>
struct Word {
  using Native = typename NativeOf<kSet>::Type;
  static constexpr int kLanes = LanesOf(kSet);

  Native v;

  Word() = default;
  TARA_INLINE Word(Native native) : v(native) {}  // NOLINT
  // The same number in all lanes.
  TARA_INLINE Word(uint64_t x) : v(Native{} + x) {}  // NOLINT

  // Lane i holds i.
  static TARA_INLINE Word Index() {
    Word word;
    for (int i = 0; i < kLanes; ++i) word.v[i] = static_cast<uint64_t>(i);
    return word;
  }
  static TARA_INLINE Word Load(const uint64_t* lanes) {
    Word word;
    __builtin_memcpy(&word.v, lanes, sizeof(word.v));
    return word;
  }
  TARA_INLINE void Store(uint64_t* lanes) const {
    __builtin_memcpy(lanes, &v, sizeof(v));
  }

  friend TARA_INLINE Word operator&(Word a, Word b) { return a.v & b.v; }
  friend TARA_INLINE Word operator|(Word a, Word b) { return a.v | b.v; }
  friend TARA_INLINE Word operator^(Word a, Word b) { return a.v ^ b.v; }
  friend TARA_INLINE Word operator~(Word a) { return ~a.v; }
  friend TARA_INLINE Word operator+(Word a, Word b) { return a.v + b.v; }
  friend TARA_INLINE Word operator-(Word a, Word b) { return a.v - b.v; }
  friend TARA_INLINE Word operator*(Word a, Word b) { return a.v * b.v; }
  friend TARA_INLINE Word operator<<(Word a, int n) { return a.v << n; }
  friend TARA_INLINE Word operator>>(Word a, int n) { return a.v >> n; }
  // Each lane by its own number.
  friend TARA_INLINE Word operator<<(Word a, Word n) { return a.v << n.v; }
  friend TARA_INLINE Word operator>>(Word a, Word n) { return a.v >> n.v; }

  TARA_INLINE Word& operator&=(Word b) { return *this = *this & b; }
  TARA_INLINE Word& operator|=(Word b) { return *this = *this | b; }
  TARA_INLINE Word& operator^=(Word b) { return *this = *this ^ b; }
  TARA_INLINE Word& operator+=(Word b) { return *this = *this + b; }
  TARA_INLINE Word& operator-=(Word b) { return *this = *this - b; }
};

// Lanes of bool: words of all zeros or all ones; or a mask register.
template <InstructionSet kSet>
struct Mask {
  using Native = typename NativeOf<kSet>::MaskType;
  Native v;

  Mask() = default;
  TARA_INLINE explicit Mask(Native native) : v(native) {}
  TARA_INLINE explicit Mask(bool all) : v((Native)(Native{} - uint64_t{all})) {}

  friend TARA_INLINE Mask operator&(Mask a, Mask b) {
    return Mask((Native)(a.v & b.v));
  }
  friend TARA_INLINE Mask operator|(Mask a, Mask b) {
    return Mask((Native)(a.v | b.v));
  }
  friend TARA_INLINE Mask operator^(Mask a, Mask b) {
    return Mask((Native)(a.v ^ b.v));
  }
  friend TARA_INLINE Mask operator!(Mask a) { return Mask((Native)(~a.v)); }
};

template <InstructionSet kSet>
TARA_INLINE Mask<kSet> IsZero(Word<kSet> a) {
  return Mask<kSet>((typename Word<kSet>::Native)(a.v == 0));
}

template <InstructionSet kSet>
TARA_INLINE Mask<kSet> NonZero(Word<kSet> a) {
  return Mask<kSet>((typename Word<kSet>::Native)(a.v != 0));
}

template <InstructionSet kSet>
TARA_INLINE Mask<kSet> Equal(Word<kSet> a, Word<kSet> b) {
  return IsZero(a ^ b);
}

// Whether a < b. REQUIRES: both below 2^63 (or meant as signed numbers).
template <InstructionSet kSet>
TARA_INLINE Mask<kSet> Less(Word<kSet> a, Word<kSet> b) {
  // The sign of the difference would suffice without overflow.
  const Word<kSet> difference = a - b;
  const Word<kSet> overflow = (a ^ b) & (a ^ difference);
  const Word<kSet> sign = (difference ^ overflow) >> 63;
  return Mask<kSet>((Word<kSet>(uint64_t{0}) - sign).v);
}

// Returns a where the mask is set, else b.
template <InstructionSet kSet>
TARA_INLINE Word<kSet> Select(Mask<kSet> mask, Word<kSet> a, Word<kSet> b) {
  return (a.v & mask.v) | (b.v & ~mask.v);
}

// Returns a where the mask is set, else 0.
template <InstructionSet kSet>
TARA_INLINE Word<kSet> KeepIf(Mask<kSet> mask, Word<kSet> a) {
  return a.v & mask.v;
}

// Returns a where it is not empty, else b.
template <InstructionSet kSet>
TARA_INLINE Word<kSet> FirstNonEmpty(Word<kSet> a, Word<kSet> b) {
  return a | KeepIf(IsZero(a), b);
}

// Bit i: lane i of the mask.
template <InstructionSet kSet>
TARA_INLINE unsigned Bits(Mask<kSet> mask) {
  unsigned bits = 0;
  for (int i = 0; i < Word<kSet>::kLanes; ++i) {
    bits |= static_cast<unsigned>(mask.v[i] & 1) << i;
  }
  return bits;
}

template <InstructionSet kSet>
TARA_INLINE bool Any(Mask<kSet> mask) {
  return Bits(mask) != 0;
}

// Returns the mask whose first n lanes are set.
template <InstructionSet kSet>
TARA_INLINE Mask<kSet> FirstLanes(int64_t n) {
  return Less(Word<kSet>::Index(), Word<kSet>(static_cast<uint64_t>(n)));
}

// Number of bits set in each byte of each lane.
template <InstructionSet kSet>
TARA_INLINE Word<kSet> ByteCounts(Word<kSet> a) {
  // Sums of pairs, nibbles and bytes, side by side.
  a = a - ((a >> 1) & Word<kSet>(0x5555555555555555));
  a = (a & Word<kSet>(0x3333333333333333)) +
      ((a >> 2) & Word<kSet>(0x3333333333333333));
  return (a + (a >> 4)) & Word<kSet>(0x0f0f0f0f0f0f0f0f);
}

// Number of bits set in each lane.
template <InstructionSet kSet>
TARA_INLINE Word<kSet> Count(Word<kSet> a) {
  a = ByteCounts(a);
  a = a + (a >> 8);
  a = a + (a >> 16);
  return (a + (a >> 32)) & Word<kSet>(0x7f);
}

// Returns the product of the lower 32 bits of each lane.
template <InstructionSet kSet>
TARA_INLINE Word<kSet> MultiplyLow32(Word<kSet> a, Word<kSet> b) {
  Word<kSet> product;
  for (int i = 0; i < Word<kSet>::kLanes; ++i) {
    product.v[i] = (a.v[i] & 0xffffffff) * (b.v[i] & 0xffffffff);
  }
  return product;
}

template <InstructionSet kSet>
TARA_INLINE Word<kSet> RotateLeft(Word<kSet> a, int n) {
  return (a << n) | (a >> (64 - n));
}

// Sum over all lanes.
template <InstructionSet kSet>
TARA_INLINE int64_t Sum(Word<kSet> a) {
  int64_t sum = 0;
  for (int i = 0; i < Word<kSet>::kLanes; ++i) {
    sum += static_cast<int64_t>(a.v[i]);
  }
  return sum;
}

// Stores lanes that are about to be loaded one by one.
template <InstructionSet kSet>
TARA_INLINE void StoreForLanes(Word<kSet> a, uint64_t* lanes) {
  a.Store(lanes);
}

// Returns `others` with consecutive words from `words` on in the lanes of a
// set (bit i: lane i). Reads one word per lane.
template <InstructionSet kSet>
TARA_INLINE Word<kSet> Expanded(unsigned set, const uint64_t* words,
                                Word<kSet> others) {
  for (; set != 0; set &= set - 1) others.v[__builtin_ctz(set)] = *words++;
  return others;
}

// Stores the lanes of a set (bit i: lane i) at consecutive words. Writes as
// many words as there are lanes.
template <InstructionSet kSet>
TARA_INLINE void StoreCompressed(unsigned set, Word<kSet> a, uint64_t* words) {
  for (; set != 0; set &= set - 1) *words++ = a.v[__builtin_ctz(set)];
}

// --- AVX2 --------------------------------------------------------------------

#if defined(__AVX2__)

using Avx2Word = Word<InstructionSet::kAvx2>;
using Avx2Mask = Mask<InstructionSet::kAvx2>;

TARA_INLINE __m256i Register(Avx2Word a) { return (__m256i)a.v; }
TARA_INLINE Avx2Word WordOf(__m256i a) { return (Avx2Word::Native)a; }

TARA_INLINE Avx2Mask Less(Avx2Word a, Avx2Word b) {
  return Avx2Mask(WordOf(_mm256_cmpgt_epi64(Register(b), Register(a))).v);
}

TARA_INLINE unsigned Bits(Avx2Mask mask) {
  return static_cast<unsigned>(_mm256_movemask_pd((__m256d)mask.v));
}

TARA_INLINE Avx2Word Count(Avx2Word a) {
  // Counts nibbles by table, then sums the bytes.
  const __m256i table =
      _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,  //
                       0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
  const __m256i nibble = _mm256_set1_epi8(0x0f);
  const __m256i low = _mm256_and_si256(Register(a), nibble);
  const __m256i high = _mm256_and_si256(Register(a >> 4), nibble);
  const __m256i bytes = _mm256_add_epi8(_mm256_shuffle_epi8(table, low),
                                        _mm256_shuffle_epi8(table, high));
  return WordOf(_mm256_sad_epu8(bytes, _mm256_setzero_si256()));
}

TARA_INLINE Avx2Word MultiplyLow32(Avx2Word a, Avx2Word b) {
  return WordOf(_mm256_mul_epu32(Register(a), Register(b)));
}

// For each set of four lanes, as indices of 32-bit halves: where a lane finds
// the next of consecutive words, and which lanes lie at consecutive places.
struct LaneMoves {
  alignas(32) uint32_t expanded[16][8];
  alignas(32) uint32_t compressed[16][8];
};
inline constexpr LaneMoves kLaneMoves = [] {
  LaneMoves moves = {};
  for (int set = 0; set < 16; ++set) {
    uint32_t next = 0;
    for (uint32_t lane = 0; lane < 4; ++lane) {
      if (((set >> lane) & 1) == 0) continue;
      for (uint32_t half = 0; half < 2; ++half) {
        moves.expanded[set][2 * lane + half] = 2 * next + half;
        moves.compressed[set][2 * next + half] = 2 * lane + half;
      }
      ++next;
    }
  }
  return moves;
}();

TARA_INLINE Avx2Word Moved(Avx2Word a, const uint32_t* halves) {
  return WordOf(_mm256_permutevar8x32_epi32(
      Register(a), _mm256_load_si256((const __m256i*)halves)));
}

TARA_INLINE Avx2Word Expanded(unsigned set, const uint64_t* words,
                              Avx2Word others) {
  const Avx2Word bits = WordOf(_mm256_setr_epi64x(1, 2, 4, 8));
  return Select(NonZero(bits & Avx2Word(uint64_t{set})),
                Moved(Avx2Word::Load(words), kLaneMoves.expanded[set]), others);
}

TARA_INLINE void StoreCompressed(unsigned set, Avx2Word a, uint64_t* words) {
  Moved(a, kLaneMoves.compressed[set]).Store(words);
}

#endif

// --- AVX-512 -----------------------------------------------------------------

#if defined(__AVX512VPOPCNTDQ__) && defined(__AVX512BITALG__)

using Avx512Word = Word<InstructionSet::kAvx512>;
using Avx512Mask = Mask<InstructionSet::kAvx512>;

TARA_INLINE __m512i Register(Avx512Word a) { return (__m512i)a.v; }
TARA_INLINE Avx512Word WordOf(__m512i a) { return (Avx512Word::Native)a; }

TARA_INLINE Avx512Mask IsZero(Avx512Word a) {
  return Avx512Mask(_mm512_testn_epi64_mask(Register(a), Register(a)));
}

TARA_INLINE Avx512Mask NonZero(Avx512Word a) {
  return Avx512Mask(_mm512_test_epi64_mask(Register(a), Register(a)));
}

TARA_INLINE Avx512Mask Less(Avx512Word a, Avx512Word b) {
  return Avx512Mask(_mm512_cmplt_epi64_mask(Register(a), Register(b)));
}

TARA_INLINE Avx512Word Select(Avx512Mask mask, Avx512Word a, Avx512Word b) {
  return WordOf(_mm512_mask_blend_epi64(mask.v, Register(b), Register(a)));
}

TARA_INLINE Avx512Word KeepIf(Avx512Mask mask, Avx512Word a) {
  return WordOf(_mm512_maskz_mov_epi64(mask.v, Register(a)));
}

TARA_INLINE Avx512Word FirstNonEmpty(Avx512Word a, Avx512Word b) {
  return Select(NonZero(a), a, b);
}

TARA_INLINE unsigned Bits(Avx512Mask mask) { return mask.v; }

TARA_INLINE Avx512Word Count(Avx512Word a) {
  return WordOf(_mm512_popcnt_epi64(Register(a)));
}

TARA_INLINE Avx512Word ByteCounts(Avx512Word a) {
  return WordOf(_mm512_popcnt_epi8(Register(a)));
}

TARA_INLINE Avx512Word MultiplyLow32(Avx512Word a, Avx512Word b) {
  // Unmasked, g++ 12 warns within (https://gcc.gnu.org/PR105593).
  return WordOf(_mm512_maskz_mul_epu32(0xff, Register(a), Register(b)));
}

TARA_INLINE Avx512Word Majority(Avx512Word a, Avx512Word b, Avx512Word c) {
  return WordOf(
      _mm512_ternarylogic_epi64(Register(a), Register(b), Register(c), 0xe8));
}

// Processors forward the lower half of a 64-byte store to loads of its lanes
// but not the upper (measured on Emerald Rapids: they wait until the store has
// left the core), so it goes in halves.
TARA_INLINE void StoreForLanes(Avx512Word a, uint64_t* lanes) {
  using Half = NativeOf<InstructionSet::kAvx2>::Type;
  Half low = __builtin_shufflevector(a.v, a.v, 0, 1, 2, 3);
  Half high = __builtin_shufflevector(a.v, a.v, 4, 5, 6, 7);
  asm("" : "+v"(low), "+v"(high));  // lest g++ join them again
  __builtin_memcpy(lanes, &low, sizeof(low));
  __builtin_memcpy(lanes + 4, &high, sizeof(high));
}

TARA_INLINE Avx512Word Expanded(unsigned set, const uint64_t* words,
                                Avx512Word others) {
  return WordOf(_mm512_mask_expand_epi64(Register(others),
                                         static_cast<__mmask8>(set),
                                         Register(Avx512Word::Load(words))));
}

TARA_INLINE void StoreCompressed(unsigned set, Avx512Word a, uint64_t* words) {
  // Not straight to memory, which is slow on Zen 4.
  WordOf(_mm512_maskz_compress_epi64(static_cast<__mmask8>(set), Register(a)))
      .Store(words);
}

#endif

// --- Choices of bits ---------------------------------------------------------

// Where in a byte its n-th set bit is, at 8 * byte + n.
struct SelectInByte {
  uint8_t bit[256 * 8];
};
inline constexpr SelectInByte kSelectInByte = [] {
  SelectInByte table = {};
  for (int byte = 0; byte < 256; ++byte) {
    int n = 0;
    for (int bit = 0; bit < 8; ++bit) {
      if ((byte >> bit) & 1)
        table.bit[8 * byte + n++] = static_cast<uint8_t>(bit);
    }
  }
  return table;
}();

// Returns the n-th set bit of a word without PDEP; 0 if it has fewer bits.
// Source: Vigna 2008, "Broadword implementation of rank/select queries".
template <InstructionSet kSet>
TARA_INLINE uint64_t NthBitOf(uint64_t word, uint64_t n) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  uint64_t counts = word - ((word >> 1) & 0x5555555555555555);
  counts = (counts & 0x3333333333333333) + ((counts >> 2) & 0x3333333333333333);
  counts = (counts + (counts >> 4)) & 0x0f0f0f0f0f0f0f0f;
  const uint64_t sums = counts * kOnes;  // byte i: bits in bytes 0 to i
  if (n >= sums >> 56) return 0;
  // The sign of byte i: whether its sum is at most n.
  const uint64_t passed = ((n * kOnes | 0x80 * kOnes) - sums) & (0x80 * kOnes);
  const int shift = static_cast<int>((((passed >> 7) * kOnes) >> 56) * 8);
  const uint64_t before = ((sums << 8) >> shift) & 0xff;
  const uint64_t byte = (word >> shift) & 0xff;
  return uint64_t{1} << (shift + kSelectInByte.bit[8 * byte + n - before]);
}

// Chooses the n-th set bit of each lane, n counted from 0 at the lowest; 0
// where n is not below the number of bits. No vector instruction does this: the
// lanes go through memory to PDEP. (It is slow on AMD before Zen 3.) A vector
// loaded from its narrow stores waits until they have left the core: Choose
// early and ask for the choice late, with other vectors' work in between.
template <InstructionSet kSet>
class BitChoice {
 public:
  using W = Word<kSet>;

  // REQUIRES: n < 64.
  TARA_INLINE void Choose(W board, W n) {
    alignas(64) uint64_t from[W::kLanes];
    StoreForLanes(board, from);
    if constexpr (kSet == InstructionSet::kPortable) {
      StoreForLanes(n, bits_);
    } else {
      StoreForLanes(W(1) << n, bits_);
    }
    // Forces the way through memory: g++ prefers to split vectors in registers.
    asm("" : "+m"(from), "+m"(bits_));
#pragma GCC unroll 8
    for (int i = 0; i < W::kLanes; ++i) {
#if defined(__BMI2__)
      if constexpr (kSet != InstructionSet::kPortable) {
        bits_[i] = _pdep_u64(bits_[i], from[i]);
        continue;
      }
#endif
      bits_[i] = NthBitOf<kSet>(from[i], bits_[i]);
    }
    asm("" : "+m"(bits_));
  }

  TARA_INLINE W Chosen() const { return W::Load(bits_); }

  // Chooses nothing.
  TARA_INLINE void Clear() { W(uint64_t{0}).Store(bits_); }

 private:
  alignas(64) uint64_t bits_[W::kLanes];
};

// The same at once.
template <InstructionSet kSet>
TARA_INLINE Word<kSet> NthBit(Word<kSet> board, Word<kSet> n) {
  BitChoice<kSet> choice;
  choice.Choose(board, n);
  return choice.Chosen();
}

}  // namespace tara::batch

#endif  // TARA_CORE_BATCH_LANES_H_
