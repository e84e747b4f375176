#ifndef TARA_NN_BUNDLE_ONNX_MODEL_H_
#define TARA_NN_BUNDLE_ONNX_MODEL_H_

// The network as ONNX, by libonnx's own classes. Inputs, outputs and their
// meaning: docs/reference/bundle.md. Only operators that ONNX Runtime runs
// everywhere, in browsers too: Conv, Gemm, Relu, Add, Mul, Concat,
// GlobalAveragePool, GlobalMaxPool, Flatten, Reshape, Unsqueeze, Gather, Split
// and, for weights that are kept as float16, Cast.

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {

// Largest finite number of IEEE 754's binary16: 1 bit of sign, 5 of exponent,
// 10 of mantissa.
inline constexpr float kMaxFloat16 = 65504.0f;

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
