#ifndef TARA_NN_BUNDLE_ONNX_GRAPH_H_
#define TARA_NN_BUNDLE_ONNX_GRAPH_H_

// How onnx_model.cc and onnx_light.cc write the graphs of ONNX models.

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tara/nn/bundle/onnx_model.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {

// Prefix of the names of constants that are not weights.
inline constexpr absl::string_view kOnnxConstant = "constant.";

// Adds nodes and tensors to a graph. Values are named after the node that
// computes them; functions that add a value return its name.
class GraphWriter {
 public:
  GraphWriter(const Checkpoint& network, WeightType weights,
              onnx::GraphProto* graph)
      : network_(network), weights_(weights), graph_(graph) {}

 protected:
  using Integers = std::vector<int64_t>;
  using Attributes =
      std::vector<std::pair<std::string, std::variant<int64_t, Integers>>>;

  const Checkpoint& network() const { return network_; }
  // INVALID_ARGUMENT naming the first tensor that is missing.
  const absl::Status& status() const { return status_; }

  // A float32 input or output [batch, axes...].
  void AddInput(const std::string& name, const Integers& axes);
  void AddOutput(const std::string& name, const Integers& axes);

  // Adds a node of one output.
  std::string Add(const std::string& type, const std::string& name,
                  const std::vector<std::string>& inputs,
                  const Attributes& attributes = {}) {
    return AddNode(type, name, inputs, {name}, attributes);
  }
  std::string Relu(const std::string& input) {
    return Add("Relu", input + ".relu", {input});
  }
  // Splits the outputs of the value head into the network's.
  void AddValues(const std::string& values);

  // Adds constants that are not weights; integers have one axis.
  std::string AddConstant(absl::string_view name, const Integers& shape,
                          const std::vector<float>& values);
  std::string AddIntegers(absl::string_view name, const Integers& values);

  // Adds a tensor of the network, in the type of the weights; returns the name
  // of its float32 value.
  std::string Weights(const std::string& name);

  // Returns the size of a tensor's axis; 0 where it is missing or misshapen.
  int64_t SizeOf(absl::string_view tensor, size_t axis) const;

 private:
  // Returns `name`.
  std::string AddNode(const std::string& type, const std::string& name,
                      const std::vector<std::string>& inputs,
                      const std::vector<std::string>& outputs,
                      const Attributes& attributes);

  const Checkpoint& network_;
  const WeightType weights_;
  onnx::GraphProto* const graph_;
  absl::Status status_;
};

// Writes the graph of a light network (tara/nn/light/light_network.h).
absl::Status WriteLightGraph(const Checkpoint& network, WeightType weights,
                             onnx::GraphProto* graph);

}  // namespace tara::nn

#endif  // TARA_NN_BUNDLE_ONNX_GRAPH_H_
