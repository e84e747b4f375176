#ifndef TARA_CORE_BATCH_PAIR_CHOICE_H_
#define TARA_CORE_BATCH_PAIR_CHOICE_H_

#include <cstdint>

#include "tara/core/batch/lanes.h"

namespace tara::batch {

// Number of bits set in each byte of each lane.
template <InstructionSet kSet>
TARA_INLINE Word<kSet> ByteCounts(Word<kSet> a) {
  [[maybe_unused]] typedef typename Word<kSet>::Native Native;
#if defined(__AVX512BITALG__)
  if constexpr (kSet == InstructionSet::kAvx512) {
    return (Native)_mm512_popcnt_epi8((__m512i)a.v);
  } else
#endif
  {
    a = a - ((a >> 1) & Word<kSet>(0x5555555555555555));
    a = (a & Word<kSet>(0x3333333333333333)) +
        ((a >> 2) & Word<kSet>(0x3333333333333333));
    return (a + (a >> 4)) & Word<kSet>(0x0f0f0f0f0f0f0f0f);
  }
}

// The uniform choice among two boards at once, by hill and for each hill first
// from `first`, then from `second`: pairs of hills, east before north.
//
// The byte of eight hills that has the n-th pair is found from the counts of
// all bytes, summed up side by side; its two times eight bits, interleaved,
// then are one small board.
template <InstructionSet kSet>
class PairChoice {
 public:
  using W = Word<kSet>;

  TARA_INLINE PairChoice(W first, W second) : first_(first), second_(second) {
    // Sums of the bytes up to each byte; the last is that of all.
    W sums = ByteCounts(first) + ByteCounts(second);
    sums += sums << 8;
    sums += sums << 16;
    sums_ = sums + (sums << 32);
  }

  TARA_INLINE W Count() const { return sums_ >> 56; }

  // Adds the n-th pair to one of the boards; nothing where there is none.
  // REQUIRES: n < 128.
  TARA_INLINE void Choose(W n, W& first, W& second) const {
    const W low_bytes = MultiplyLow32(n, W(0x01010101));
    const W bytes = low_bytes | (low_bytes << 32);
    constexpr uint64_t kHighBits = 0x0080808080808080;
    // The high bits of the bytes whose sums do not pass n: those before.
    // (Whatever is not before is in the last byte.)
    const W before = ((bytes | W(0x8080808080808080)) - sums_) & W(kHighBits);
    const W shift = PopCount(before) << 3;
    const W rest = n - (((sums_ << 8) >> shift) & W(0xff));
    const W bits = Spread(((first_ >> shift) & W(0xff)) |
                          (((second_ >> shift) & W(0xff)) << 16));
    const W bit = NthBit((bits | (bits >> 15)) & W(0xffff), rest);
    const W chosen = Gathered((bit & W(0x5555)) | ((bit & W(0xaaaa)) << 15));
    first |= (chosen & W(0xff)) << shift;
    second |= (chosen >> 16) << shift;
  }

 private:
  // Bits 0 to 7 of each half go to its even bits.
  static TARA_INLINE W Spread(W bits) {
    bits = (bits | (bits << 4)) & W(0x0f0f0f0f);
    bits = (bits | (bits << 2)) & W(0x33333333);
    return (bits | (bits << 1)) & W(0x55555555);
  }

  // The inverse of Spread.
  static TARA_INLINE W Gathered(W bits) {
    bits = (bits | (bits >> 1)) & W(0x33333333);
    bits = (bits | (bits >> 2)) & W(0x0f0f0f0f);
    return (bits | (bits >> 4)) & W(0x00ff00ff);
  }

  W first_;
  W second_;
  W sums_;
};

}  // namespace tara::batch

#endif  // TARA_CORE_BATCH_PAIR_CHOICE_H_
