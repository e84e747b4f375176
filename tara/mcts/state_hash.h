#ifndef TARA_MCTS_STATE_HASH_H_
#define TARA_MCTS_STATE_HASH_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "absl/base/casts.h"
#include "tara/base/random.h"
#include "tara/core/rule_options.h"
#include "tara/core/state.h"

namespace tara::mcts {

// Returns a 64-bit hash of all that is in a position. The same on every run
// (seeds derive from it) and on every little-endian machine. Different
// positions may collide: compare the states to be sure.
inline uint64_t HashState(const State& state) {
  // The last word is the rule options. With default options it has the same
  // value as in earlier versions with fewer options, so that searches with
  // random games stay the same.
  constexpr uint64_t kFirstDefaults = 0x0101000528;
  static_assert(offsetof(State, options) == 56 && sizeof(RuleOptions) == 4);
  auto words = absl::bit_cast<std::array<uint64_t, 8>>(state);
  words[7] ^= absl::bit_cast<uint32_t>(RuleOptions()) ^ kFirstDefaults;
  uint64_t hash = 0;
  for (size_t i = 0; i < words.size(); i += 2) {
    // Four independent products; the offsets (fractional digits of the square
    // roots of primes) keep boards, which are full of zeros, from giving zero.
    const unsigned __int128 product =
        static_cast<unsigned __int128>(words[i] ^
                                       (0x6a09e667f3bcc909 + 2 * i)) *
        (words[i + 1] ^ 0xbb67ae8584caa73b);
    hash = std::rotl(hash, 17) ^ static_cast<uint64_t>(product) ^
           static_cast<uint64_t>(product >> 64);
  }
  return MixBits(hash);
}

}  // namespace tara::mcts

#endif  // TARA_MCTS_STATE_HASH_H_
