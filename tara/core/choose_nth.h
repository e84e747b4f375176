#ifndef TARA_CORE_CHOOSE_NTH_H_
#define TARA_CORE_CHOOSE_NTH_H_

#include <cstdint>

namespace tara {

// Returns which of `count` legal actions the upper half of a random number, 32
// bits, chooses, in the order of their indices. The same in every playout of
// the core. No action is preferred by more than count / 2^32.
// REQUIRES: count > 0.
constexpr int ChooseNthByHalf(uint64_t half, int count) {
  return static_cast<int>((half * static_cast<uint64_t>(count)) >> 32);
}

// The same by the upper half of the number.
constexpr int ChooseNth(uint64_t random, int count) {
  return ChooseNthByHalf(random >> 32, count);
}

}  // namespace tara

#endif  // TARA_CORE_CHOOSE_NTH_H_
