#ifndef TARA_NN_BUNDLE_FLOAT16_H_
#define TARA_NN_BUNDLE_FLOAT16_H_

// Numbers of IEEE 754's binary16: 1 bit of sign, 5 of exponent, 10 of mantissa;
// and weights that are rounded to them.

#include <bit>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {

// Largest finite number.
inline constexpr float kMaxFloat16 = 65504.0f;

// Returns the nearest number, of two equally near the even one; infinity from
// 65520 on.
constexpr uint16_t ToFloat16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;  // NaN
  if (magnitude >= 0x477ff000) return sign | 0x7c00;
  // Drops 13 bits of the mantissa; for numbers below 2^-14, which have no
  // leading one, one more bit for each power of two below that.
  uint32_t mantissa = magnitude;
  int dropped = 13;
  if (magnitude < 0x38800000) {
    const auto exponent = static_cast<int>(magnitude >> 23);
    if (exponent < 102) return sign;  // below 2^-25
    mantissa = (magnitude & 0x7fffff) | 0x800000;
    dropped = 126 - exponent;
  }
  const uint32_t half = uint32_t{1} << (dropped - 1);
  uint32_t rounded =
      (mantissa + half - 1 + ((mantissa >> dropped) & 1)) >> dropped;
  // The exponent is counted from 127 there, from 15 here.
  if (dropped == 13) rounded -= (127 - 15) << 10;
  return static_cast<uint16_t>(sign | rounded);
}

constexpr float FromFloat16(uint16_t bits) {
  const uint32_t sign = uint32_t{bits & 0x8000u} << 16;
  const uint32_t exponent = (bits >> 10) & 0x1f;
  const uint32_t mantissa = bits & 0x3ff;
  if (exponent == 0) {  // mantissa * 2^-24
    const float value = static_cast<float>(mantissa) * 0x1p-24f;
    return sign != 0 ? -value : value;
  }
  const uint32_t wide = exponent == 0x1f ? 0xff : exponent + (127 - 15);
  return std::bit_cast<float>(sign | (wide << 23) | (mantissa << 13));
}

// How the weights of a bundle are rounded.
enum class WeightType {
  kFloat32,  // as learned
  kFloat16,  // to float16: the file has about half the size
};

std::string WeightTypeName(WeightType type);  // "float32", "float16"

// Returns OUT_OF_RANGE naming a tensor of a folded network that holds NaN or
// numbers larger than float16 can represent. Every bundle has a form of
// float16, in which such a weight would be infinite.
absl::Status CheckFloat16(const Checkpoint& folded);

// Rounds all weights of a folded network to float16. Errors as CheckFloat16.
absl::Status RoundToFloat16(Checkpoint& folded);

}  // namespace tara::nn

#endif  // TARA_NN_BUNDLE_FLOAT16_H_
