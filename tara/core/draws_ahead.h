#ifndef TARA_CORE_DRAWS_AHEAD_H_
#define TARA_CORE_DRAWS_AHEAD_H_

#include <cstdint>

#include "tara/base/random.h"

namespace tara {

// The first random numbers of the playout streams of a group of games, drawn
// before the games are played: four streams to a vector, and no registers
// taken while playing. Nearly all games end before the numbers do.
//
// Draws the streams of tara::Random (tara/base/random.h has sources and
// formulas), upper halves only.
class DrawsAhead {
 public:
  static constexpr int kGames = 32;
  static constexpr int kDraws = 53;
  // Distance between successive numbers of a game.
  static constexpr int kStride = 4;

  // Draws for games first_game ... first_game + kGames - 1.
  void Draw(uint64_t run_seed, uint64_t first_game) {
    const uint64_t mixed = MixBits(run_seed);
    for (int vector = 0; vector < kGames / kStride; ++vector) {
      const uint64_t first = first_game + uint64_t{kStride} * vector;
      Words seed = Words{first, first + 1, first + 2, first + 3} ^ mixed;
      Mix(seed);
      seed ^= static_cast<uint64_t>(StreamPurpose::kPlayouts);
      Mix(seed);
      Words state[4];
      for (Words& words : state) {
        Mix(seed);
        words = seed;
      }
      for (Words& draws : draws_[vector]) {
        Next(state, draws);
        draws >>= 32;
      }
    }
  }

  // Returns where the upper half of the first number of the i-th game is; the
  // others follow at distances of kStride.
  const uint64_t* First(int i) const {
    return reinterpret_cast<const uint64_t*>(&draws_[i / kStride][0]) +
           i % kStride;
  }

 private:
  typedef uint64_t Words __attribute__((vector_size(8 * kStride)));

  // By reference: passing vectors by value takes AVX, which is not everywhere.

  static void Mix(Words& x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    x ^= x >> 31;
  }

  static void Rotate(Words& x, int bits) {
    x = (x << bits) | (x >> (64 - bits));
  }

  static void Next(Words (&state)[4], Words& result) {
    result = state[0] + state[3];
    Rotate(result, 23);
    result += state[0];
    const Words shifted = state[1] << 17;
    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= shifted;
    Rotate(state[3], 45);
  }

  Words draws_[kGames / kStride][kDraws];
};

}  // namespace tara

#endif  // TARA_CORE_DRAWS_AHEAD_H_
