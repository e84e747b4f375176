#ifndef TARA_NN_BUNDLE_ONNX_MODEL_H_
#define TARA_NN_BUNDLE_ONNX_MODEL_H_

// The network as ONNX, by libonnx's own classes. Inputs, outputs and their
// meaning: docs/reference/bundle.md. Only operators that ONNX Runtime runs
// everywhere, in browsers too: Conv, Gemm, Relu, Add, Mul, Concat,
// GlobalAveragePool, GlobalMaxPool, Flatten, Reshape, Unsqueeze, Gather, Split
// and, for weights that are kept as float16, Cast.

#include <bit>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {

// Numbers of IEEE 754's binary16: 1 bit of sign, 5 of exponent, 10 of mantissa;
// and weights that are rounded to them.

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

inline constexpr int kOnnxOpset = 17;

// Returns the bytes of a model of the folded network (FoldNorms). The weights
// are kept as `weights`; it computes in float32. Of a network that was rounded
// to float16, both types give the same outputs.
// Checked by libonnx's checker and shape inference: INTERNAL if they object.
// Returns INVALID_ARGUMENT naming a tensor that is missing.
absl::StatusOr<std::string> MakeOnnxModel(const Checkpoint& folded,
                                          WeightType weights);

// Returns the folded network whose weights a model of MakeOnnxModel holds, or
// DATA_LOSS saying what is wrong with the model. Tensors are not
// checked against the shape.
absl::StatusOr<Checkpoint> ReadOnnxWeights(absl::string_view model,
                                           const NetworkShape& shape);

// Returns OK if `model` is what MakeOnnxModel writes for the network whose
// weights the model `source` holds, kept as `weights`: node by node and bit by
// bit, except descriptions and metadata. Otherwise DATA_LOSS.
absl::Status CheckOnnxModel(absl::string_view model, absl::string_view source,
                            const NetworkShape& shape, WeightType weights);

}  // namespace tara::nn

#endif  // TARA_NN_BUNDLE_ONNX_MODEL_H_
