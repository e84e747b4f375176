#ifndef TARA_NN_BUNDLE_ONNX_MODEL_H_
#define TARA_NN_BUNDLE_ONNX_MODEL_H_

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tara/nn/bundle/float16.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {

// The only symbolic size of a model's inputs and outputs.
inline constexpr char kOnnxBatch[] = "batch";

// Builds the graph of an ONNX model node by node. Values are named after the
// node that computes them. The graph must outlive the builder.
class OnnxGraphBuilder {
 public:
  OnnxGraphBuilder(WeightType weights, onnx::GraphProto* graph)
      : weights_(weights), graph_(graph) {}

  // A float32 input or output; its first axis is the batch, `axes` the others.
  void AddInput(const std::string& name, const std::vector<int64_t>& axes);
  void AddOutput(const std::string& name, const std::vector<int64_t>& axes);

  // A node of one output, whose name it returns. `name` must be new.
  std::string Add(const std::string& type, const std::string& name,
                  const std::vector<std::string>& inputs);
  // The same, with an integer as attribute.
  std::string Add(const std::string& type, const std::string& name,
                  const std::vector<std::string>& inputs,
                  const std::string& attribute, int64_t value);
  // The node itself, for all else: without outputs and attributes.
  onnx::NodeProto* AddNode(const std::string& type, const std::string& name,
                           const std::vector<std::string>& inputs);

  // A tensor of the network, in the type of the weights; returns the name of
  // its float32 value.
  std::string AddWeights(const NamedTensor& tensor);
  // Constants that are no weights.
  std::string AddFloats(const std::string& name,
                        const std::vector<int64_t>& shape,
                        absl::Span<const float> values);
  std::string AddIntegers(const std::string& name,
                          const std::vector<int64_t>& values);

 private:
  onnx::TensorProto* AddInitializer(const std::string& name,
                                    const std::vector<int64_t>& shape,
                                    int type);

  const WeightType weights_;
  onnx::GraphProto* const graph_;
};

// Adds an attribute to a node.
void SetOnnxAttribute(const std::string& name, int64_t value,
                      onnx::NodeProto* node);
void SetOnnxAttribute(const std::string& name,
                      const std::vector<int64_t>& values,
                      onnx::NodeProto* node);

// The network as ONNX, by libonnx's own classes. Inputs, outputs and their
// meaning: docs/reference/bundle.md. Only operators that ONNX Runtime runs
// everywhere, in browsers too: Conv, Gemm, Relu, Add, Mul, Concat,
// GlobalAveragePool, GlobalMaxPool, Flatten, Reshape, Unsqueeze, Gather, Split
// and, for weights that are kept as float16, Cast.

inline constexpr int kOnnxOpset = 17;

// Returns the bytes of a model of the folded network (FoldNorms). The weights
// are kept as `weights`; it computes in float32. Of a network that was rounded
// to float16, both types give the same outputs.
// Checked by libonnx's checker and shape inference: INTERNAL if they object.
// Returns INVALID_ARGUMENT naming a tensor that is missing or misshapen.
absl::StatusOr<std::string> MakeOnnxModel(const Checkpoint& folded,
                                          WeightType weights);

// Returns the folded network whose weights a model of MakeOnnxModel holds, or
// DATA_LOSS saying what is wrong with the model. Tensors are not
// checked against the shape.
absl::StatusOr<Checkpoint> ReadOnnxWeights(absl::string_view model,
                                           const NetworkShape& shape);

}  // namespace tara::nn

#endif  // TARA_NN_BUNDLE_ONNX_MODEL_H_
