#ifndef TARA_BASE_RANDOM_H_
#define TARA_BASE_RANDOM_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tara {

// Mixes the bits of `x`: the finalizer of SplitMix64.
// Source: Steele, Lea and Flood 2014, "Fast splittable pseudorandom number
// generators"; constants by David Stafford (variant 13).
constexpr uint64_t MixBits(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// The purpose of a random stream. Streams of different purposes are
// independent, so that a change in how one is used does not move the others.
enum class StreamPurpose : uint64_t {
  kSelfPlay = 1,
  kSampling = 2,
  kInitialWeights = 3,
  kArena = 4,
  kPlayouts = 5,
  kTest = 6,
  kResignation = 7,
  kHeldOut = 8,
};

// Returns the seed of the stream (run seed, index, purpose).
constexpr uint64_t DeriveSeed(uint64_t run_seed, uint64_t index,
                              StreamPurpose purpose) {
  return MixBits(MixBits(MixBits(run_seed) ^ index) ^
                 static_cast<uint64_t>(purpose));
}

// A small, fast generator (xoshiro256++); a UniformRandomBitGenerator.
// Source: Blackman and Vigna 2021, "Scrambled linear pseudorandom number
// generators". Copyable: a copy continues the same stream. Not thread-safe.
class Random {
 public:
  using result_type = uint64_t;

  explicit constexpr Random(uint64_t seed) {
    for (uint64_t& word : words_) word = seed = MixBits(seed);
  }

  static constexpr uint64_t min() { return 0; }
  static constexpr uint64_t max() {
    return std::numeric_limits<uint64_t>::max();
  }

  constexpr uint64_t operator()() {
    const uint64_t result = std::rotl(words_[0] + words_[3], 23) + words_[0];
    const uint64_t shifted = words_[1] << 17;
    words_[2] ^= words_[0];
    words_[3] ^= words_[1];
    words_[1] ^= words_[2];
    words_[0] ^= words_[3];
    words_[2] ^= shifted;
    words_[3] = std::rotl(words_[3], 45);
    return result;
  }

  // Returns a number in [0, bound), uniform without bias.
  // Source: Lemire 2019, "Fast random integer generation in an interval".
  // REQUIRES: bound > 0.
  constexpr uint32_t Below(uint32_t bound) {
    uint64_t product = uint64_t{static_cast<uint32_t>((*this)() >> 32)} * bound;
    if (static_cast<uint32_t>(product) < bound) {
      const uint32_t threshold = -bound % bound;
      while (static_cast<uint32_t>(product) < threshold) {
        product = uint64_t{static_cast<uint32_t>((*this)() >> 32)} * bound;
      }
    }
    return static_cast<uint32_t>(product >> 32);
  }

  // Returns a number in [0, 1), a multiple of 2^-53.
  constexpr double Uniform() {
    return static_cast<double>((*this)() >> 11) * 0x1.0p-53;
  }

  // Returns a standard normal variate (Box and Muller 1958).
  double Normal() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - Uniform()));
    return radius * std::cos(2.0 * 3.14159265358979323846 * Uniform());
  }

 private:
  uint64_t words_[4] = {};
};

}  // namespace tara

#endif  // TARA_BASE_RANDOM_H_
