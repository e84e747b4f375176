#ifndef TARA_NN_BUNDLE_ONNX_MODEL_H_
#define TARA_NN_BUNDLE_ONNX_MODEL_H_

// The network as ONNX, by libonnx's own classes. Inputs, outputs and their
// meaning: docs/bundle.md. Only operators that ONNX Runtime runs everywhere, in
// browsers too: Conv, Gemm, Relu, Add, Mul, Concat, GlobalAveragePool,
// GlobalMaxPool, Flatten, Reshape, Unsqueeze, Gather, Split and, for weights
// that are kept as float16, Cast.

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tara/nn/bundle/fold_norms.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {

inline constexpr int kOnnxOpset = 17;

// Returns the bytes of a model of the folded network (FoldNorms). The weights
// are kept as `weights`; it computes in float32. Of a network that was rounded
// to float16, both types say the same.
// Checked by libonnx's checker and shape inference: INTERNAL if they object.
// Returns INVALID_ARGUMENT naming a tensor that is missing or misshapen.
absl::StatusOr<std::string> MakeOnnxModel(const Checkpoint& folded,
                                          WeightType weights);

// Returns the folded network whose weights a model of MakeOnnxModel holds, or
// DATA_LOSS saying what is wrong with the model. Tensors are not held to the
// shape: whoever uses them does so.
absl::StatusOr<Checkpoint> ReadOnnxWeights(absl::string_view model,
                                           const NetworkShape& shape);

}  // namespace tara::nn

#endif  // TARA_NN_BUNDLE_ONNX_MODEL_H_
