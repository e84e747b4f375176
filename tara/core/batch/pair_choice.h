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

// The choice of the n-th among two boards at once, by hill and for each hill
// first from `first`, then from `second`: pairs of hills, east before north.
//
// The byte of eight hills that has the n-th pair is found from the counts of
// all bytes, summed up side by side; its two times eight bits, interleaved,
// then are one small board.
template <InstructionSet kSet>
class PairChoice {
 public:
  using W = Word<kSet>;

  PairChoice() = default;
  TARA_INLINE PairChoice(W first, W second) : first_(first), second_(second) {
    W sums = ByteCounts(first) + ByteCounts(second);
    sums += sums << 8;
    sums += sums << 16;
    sums_ = sums + (sums << 32);
  }

  TARA_INLINE W Count() const { return sums_ >> 56; }

  // Like BitChoice: choose early, use late. REQUIRES: n < 128.
  TARA_INLINE void Choose(W n) {
    // The high bit of each byte whose sum is at most n: of those before. What
    // is not before the seventh is in the eighth.
    const W low_bytes = MultiplyLow32(n, W(0x01010101));
    const W bytes = low_bytes | (low_bytes << 32);
    const W before =
        ((bytes | W(0x8080808080808080)) - sums_) & W(0x0080808080808080);
    shift_ = batch::Count(before) << 3;
    const W rest = n - (((sums_ << 8) >> shift_) & W(0xff));
    const W bits = Spread(((first_ >> shift_) & W(0xff)) |
                          (((second_ >> shift_) & W(0xff)) << 16));
    choice_.Choose((bits | (bits >> 15)) & W(0xffff), rest);
  }

  // Adds the chosen pair, if any, to one of the boards.
  TARA_INLINE void AddChosen(W& first, W& second) const {
    const W bit = choice_.Chosen();
    const W bits = Gathered((bit & W(0x5555)) | ((bit & W(0xaaaa)) << 15));
    first |= (bits & W(0xff)) << shift_;
    second |= (bits >> 16) << shift_;
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
  W sums_;  // by byte, of the bits in it and in those before
  W shift_;
  BitChoice<kSet> choice_;
};

}  // namespace tara::batch

#endif  // TARA_CORE_BATCH_PAIR_CHOICE_H_
