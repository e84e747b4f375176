#ifndef TARA_CORE_BATCH_RANDOM_LANES_H_
#define TARA_CORE_BATCH_RANDOM_LANES_H_

#include <cstdint>

#include "tara/base/random.h"
#include "tara/core/batch/lanes.h"

namespace tara::batch {

// The lanes' twin of tara::Random (tara/base/random.h has sources and
// formulas): lane i draws the very stream of its game.
template <InstructionSet kSet>
class RandomLanes {
 public:
  using W = Word<kSet>;

  RandomLanes() = default;
  // The playout stream (seed, index) of each lane.
  TARA_INLINE RandomLanes(W seeds, W indices) {
    W seed = MixedBits(MixedBits(MixedBits(seeds) ^ indices) ^
                       W(static_cast<uint64_t>(StreamPurpose::kPlayouts)));
    for (W& word : words_) word = seed = MixedBits(seed);
  }
  // Lane i: the playout stream of game first_game + i.
  TARA_INLINE RandomLanes(uint64_t run_seed, uint64_t first_game)
      : RandomLanes(W(run_seed), W(first_game) + W::Index()) {}

  TARA_INLINE W operator()() {
    const W result = RotateLeft(words_[0] + words_[3], 23) + words_[0];
    const W shifted = words_[1] << 17;
    words_[2] ^= words_[0];
    words_[3] ^= words_[1];
    words_[1] ^= words_[2];
    words_[0] ^= words_[3];
    words_[2] ^= shifted;
    words_[3] = RotateLeft(words_[3], 45);
    return result;
  }

  // A number in [0, bound) of each lane, one draw each; 0 where bound is 0.
  // REQUIRES: bound < 2^32. The bias is below bound / 2^32.
  TARA_INLINE W Below(W bound) {
    return MultiplyLow32((*this)() >> 32, bound) >> 32;
  }

  // Goes back to `before` in the lanes of the mask.
  TARA_INLINE void Restore(Mask<kSet> mask, const RandomLanes& before) {
    for (int i = 0; i < 4; ++i) {
      words_[i] = Select(mask, before.words_[i], words_[i]);
    }
  }

  // The i-th of the four words of the lanes' states.
  TARA_INLINE W WordAt(int i) const { return words_[i]; }
  TARA_INLINE void SetWord(int i, W word) { words_[i] = word; }

  // Lane `to` continues the stream of lane `from` of `source`.
  TARA_INLINE void CopyLane(int to, const RandomLanes& source, int from) {
    for (int i = 0; i < 4; ++i) words_[i].v[to] = source.words_[i].v[from];
  }

 private:
  static TARA_INLINE W MixedBits(W x) {
    x = x + W(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * W(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * W(0x94d049bb133111eb);
    return x ^ (x >> 31);
  }

  W words_[4];
};

}  // namespace tara::batch

#endif  // TARA_CORE_BATCH_RANDOM_LANES_H_
