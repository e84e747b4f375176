#include "tara/nn/bundle/onnx_model.h"

#include <onnx/checker.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "tara/base/status_macros.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/nn/bundle/onnx_graph.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/weights/fold_norms.h"

namespace tara::nn {
namespace {

static_assert(std::endian::native == std::endian::little,
              "raw data of ONNX is little-endian");

// Of opset 17; what ONNX 1.12 writes.
constexpr int kIrVersion = 8;

// Builds the network that tara/nn/torch/network_torch.h draws. Values are named
// after the node that computes them.
class TowerWriter : public GraphWriter {
 public:
  using GraphWriter::GraphWriter;

  // Returns INVALID_ARGUMENT naming the first tensor that is missing.
  absl::Status Write() {
    AddInput("planes", {SizeOf("stem_conv.weight", 1), kBoardSize, kBoardSize});
    AddInput("globals", {SizeOf("stem_globals.weight", 1)});
    AddConstants();
    std::string tower = AddStem();
    for (int i = 0; i < network().shape.blocks; ++i) {
      tower = AddBlock(absl::StrCat("block", i), tower);
    }
    AddPolicy(tower);
    AddValue(tower);
    return status();
  }

 private:
  void AddConstants() {
    std::vector<float> hills(kNumSquares);
    std::vector<int64_t> squares;
    for (Hill hill = 0; hill < kNumHills; ++hill) {
      hills[static_cast<size_t>(SquareOf(hill))] = 1;
      squares.push_back(SquareOf(hill));
    }
    hills_ = AddConstant("hills", {1, 1, kBoardSize, kBoardSize}, hills);
    // From the mean over all squares to that over the hills.
    mean_scale_ = AddConstant("mean_scale", {1},
                              {static_cast<float>(kNumSquares) / kNumHills});
    places_ = AddIntegers("places", {2, 3});
    squares_ = AddIntegers("squares", squares);
  }

  // A convolution that keeps the grid's size.
  std::string Convolution(const std::string& name, const std::string& weight,
                          const std::string& bias, int kernel,
                          const std::string& input) {
    onnx::NodeProto* const node =
        AddNode("Conv", name, {input, Weights(weight), Weights(bias)});
    node->add_output(name);
    SetAttribute("kernel_shape", {kernel, kernel}, node);
    const int64_t edge = kernel / 2;
    SetAttribute("pads", {edge, edge, edge, edge}, node);
    return name;
  }

  // A convolution with what is left of its norm.
  std::string Folded(const std::string& layer, int kernel,
                     const std::string& input) {
    return Convolution(layer, layer + ".conv.weight", layer + ".norm.bias",
                       kernel, input);
  }

  std::string Linear(const std::string& layer, bool has_bias,
                     const std::string& input) {
    std::vector<std::string> inputs = {input, Weights(layer + ".weight")};
    if (has_bias) inputs.push_back(Weights(layer + ".bias"));
    return Add("Gemm", layer, inputs, "transB", 1);
  }

  // [B, C] as a bias of each channel.
  std::string OfChannels(const std::string& values) {
    return Add("Unsqueeze", values + ".of_channels", {values, places_});
  }

  // The mean and the maximum over the hills: [B, 2C]. Values are not negative,
  // so zeros off the board do not change the maximum.
  std::string Pool(const std::string& values) {
    const std::string masked =
        Add("Mul", values + ".on_hills", {values, hills_});
    const std::string of_squares =
        Add("GlobalAveragePool", values + ".mean_of_squares", {masked});
    const std::string mean =
        Add("Mul", values + ".mean", {of_squares, mean_scale_});
    const std::string maximum =
        Add("GlobalMaxPool", values + ".maximum", {masked});
    const std::string both =
        Add("Concat", values + ".mean_and_maximum", {mean, maximum}, "axis", 1);
    return Add("Flatten", values + ".pooled", {both}, "axis", 1);
  }

  std::string AddStem() {
    const std::string seen = Convolution("stem_conv", "stem_conv.weight",
                                         "stem_norm.bias", 3, "planes");
    const std::string known = Linear("stem_globals", false, "globals");
    return Relu(Add("Add", "stem", {seen, OfChannels(known)}));
  }

  std::string AddBlock(const std::string& name, const std::string& input) {
    const std::string inner = Relu(Folded(name + ".first", 3, input));
    const std::string second = Folded(name + ".second", 3, inner);
    std::string sum = Add("Add", name + ".sum", {second, input});
    if (network().Has(name + ".pooled.weight")) {
      const std::string pooled = Linear(name + ".pooled", true, Pool(inner));
      sum = Add("Add", name + ".sum_and_pooled", {sum, OfChannels(pooled)});
    }
    return Relu(sum);
  }

  void AddPolicy(const std::string& tower) {
    const std::string pooled = Pool(tower);
    const std::string local = Folded("policy_conv", 1, tower);
    const std::string everywhere = Linear("policy_pooled", false, pooled);
    const std::string policy =
        Relu(Add("Add", "policy_sum", {local, OfChannels(everywhere)}));
    const std::string planes =
        Convolution("policy_planes", "policy_planes.weight",
                    "policy_planes.bias", 1, policy);
    const std::string pass = Linear("policy_pass", true, pooled);
    const std::string flat =
        Add("Flatten", "policy_planes.flat", {planes}, "axis", 1);
    const std::string all =
        Add("Concat", "policy_outputs", {flat, pass}, "axis", 1);
    std::vector<int64_t> outputs;
    for (int i = 0; i < kNumActions; ++i) {
      outputs.push_back(PolicyOutput(static_cast<Action>(i)));
    }
    Add("Gather", "policy", {all, AddIntegers("outputs_of_actions", outputs)},
        "axis", 1);
    AddOutput("policy", {kNumActions});
  }

  void AddValue(const std::string& tower) {
    const std::string seen = Relu(Folded("value_conv", 1, tower));
    const std::string hidden = Linear("value_hidden", true, Pool(seen));
    const std::string values = Linear("value_output", true, Relu(hidden));
    const std::string sizes = AddIntegers("sizes_of_values", {3, kNumMargins});
    onnx::NodeProto* const split = AddNode("Split", "values", {values, sizes});
    split->add_output("result");
    split->add_output("margins");
    SetAttribute("axis", 1, split);
    AddOutput("result", {3});
    AddOutput("margins", {kNumMargins});
    if (!network().Has("owner_planes.weight")) return;

    const std::string planes = Convolution(
        "owner_planes", "owner_planes.weight", "owner_planes.bias", 1, seen);
    const std::string flat =
        Add("Reshape", "owner_planes.flat",
            {planes, AddIntegers("owner_shape", {0, 3, kNumSquares})});
    Add("Gather", "owner", {flat, squares_}, "axis", 2);
    AddOutput("owner", {3, kNumHills});
  }

  std::string hills_;
  std::string mean_scale_;
  std::string places_;
  std::string squares_;
};

void AddProperty(const std::string& key, const std::string& value,
                 onnx::ModelProto& model) {
  onnx::StringStringEntryProto* const property = model.add_metadata_props();
  property->set_key(key);
  property->set_value(value);
}

onnx::ModelProto EmptyModel() {
  onnx::ModelProto model;
  model.set_ir_version(kIrVersion);
  model.set_producer_name("tara");
  onnx::OperatorSetIdProto* const opset = model.add_opset_import();
  opset->set_domain("");
  opset->set_version(kOnnxOpset);
  AddProperty("features_version", absl::StrCat(kFeatureVersion), model);
  AddProperty("policy_version", absl::StrCat(kPolicyVersion), model);
  AddProperty("values_version", absl::StrCat(kValueVersion), model);
  model.mutable_graph()->set_name("tara");
  model.mutable_graph()->set_doc_string(
      "The network of a model bundle of Tara; docs/reference/bundle.md says "
      "how to ask "
      "it.");
  return model;
}

// Returns INTERNAL unless libonnx accepts the model, types and shapes too.
absl::Status Check(const onnx::ModelProto& model) {
  try {
    onnx::checker::check_model(model);
    onnx::ModelProto inferred = model;
    onnx::shape_inference::InferShapes(
        inferred, onnx::OpSchemaRegistry::Instance(),
        onnx::ShapeInferenceOptions(/*check_type_val=*/true,
                                    /*strict_mode_val=*/1));
    onnx::checker::check_model(inferred);
    return absl::OkStatus();
  } catch (const std::exception& error) {
    return absl::InternalError(
        absl::StrCat("the ONNX model is not valid: ", error.what()));
  }
}

absl::StatusOr<onnx::ModelProto> ParseModel(absl::string_view bytes) {
  onnx::ModelProto model;
  if (bytes.size() > INT32_MAX ||
      !model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::DataLossError("is not an ONNX model");
  }
  return model;
}

// Returns the model as bytes, without what people read.
std::string BareBytes(onnx::ModelProto model) {
  model.clear_producer_name();
  model.clear_metadata_props();
  model.mutable_graph()->clear_doc_string();
  return model.SerializeAsString();
}

// Returns the values of a float tensor, or nothing where bytes are missing.
bool ReadValues(const onnx::TensorProto& tensor, NamedTensor& values) {
  size_t count = 1;
  for (const int64_t axis : tensor.dims()) {
    if (axis < 0 || axis > (int64_t{1} << 30)) return false;
    values.shape.push_back(axis);
    count *= static_cast<size_t>(axis);
    if (count > (size_t{1} << 30)) return false;
  }
  const std::string& bytes = tensor.raw_data();
  if (tensor.data_type() == onnx::TensorProto::FLOAT) {
    if (bytes.size() != count * sizeof(float)) return false;
    values.values.resize(count);
    if (count > 0)
      std::memcpy(values.values.data(), bytes.data(), bytes.size());
    return true;
  }
  if (bytes.size() != count * sizeof(uint16_t)) return false;
  for (size_t i = 0; i < count; ++i) {
    uint16_t half;
    std::memcpy(&half, bytes.data() + i * sizeof(half), sizeof(half));
    values.values.push_back(FromFloat16(half));
  }
  return true;
}

// Returns the network exactly as the model stores it: without neutral norms,
// and with the inputs that it had when it was made.
absl::StatusOr<Checkpoint> ReadTensors(absl::string_view model,
                                       const NetworkShape& shape) {
  TARA_ASSIGN_OR_RETURN(const onnx::ModelProto parsed, ParseModel(model));
  Checkpoint network = {
      .shape = shape, .progress = {}, .optimizer_steps = 0, .tensors = {}};
  for (const onnx::TensorProto& tensor : parsed.graph().initializer()) {
    if (absl::StartsWith(tensor.name(), kOnnxConstant)) continue;
    NamedTensor weights = {.name = tensor.name(), .shape = {}, .values = {}};
    if ((tensor.data_type() != onnx::TensorProto::FLOAT &&
         tensor.data_type() != onnx::TensorProto::FLOAT16) ||
        !ReadValues(tensor, weights)) {
      return absl::DataLossError(absl::StrCat(
          "tensor ", tensor.name(),
          " does not consist of whole float32 or float16 numbers as raw data"));
    }
    network.tensors.push_back(std::move(weights));
  }
  return network;
}

}  // namespace

absl::StatusOr<std::string> MakeOnnxModel(const Checkpoint& folded,
                                          WeightType weights) {
  onnx::ModelProto model = EmptyModel();
  onnx::GraphProto* const graph = model.mutable_graph();
  TARA_RETURN_IF_ERROR(folded.shape.kind == NetworkKind::kLight
                           ? WriteLightGraph(folded, weights, graph)
                           : TowerWriter(folded, weights, graph).Write());
  TARA_RETURN_IF_ERROR(Check(model));
  std::string bytes;
  if (!model.SerializeToString(&bytes)) {
    return absl::InternalError("the ONNX model cannot be written: too large");
  }
  return bytes;
}

absl::StatusOr<Checkpoint> ReadOnnxWeights(absl::string_view model,
                                           const NetworkShape& shape) {
  TARA_ASSIGN_OR_RETURN(Checkpoint network, ReadTensors(model, shape));
  AddNeutralNorms(network);
  TARA_RETURN_IF_ERROR(AddNewInputs(network));
  return network;
}

absl::Status CheckOnnxModel(absl::string_view model, absl::string_view source,
                            const NetworkShape& shape, WeightType weights) {
  TARA_ASSIGN_OR_RETURN(const Checkpoint network, ReadTensors(source, shape));
  TARA_ASSIGN_OR_RETURN(const std::string bytes,
                        MakeOnnxModel(network, weights));
  TARA_ASSIGN_OR_RETURN(const onnx::ModelProto expected, ParseModel(bytes));
  TARA_ASSIGN_OR_RETURN(const onnx::ModelProto found, ParseModel(model));
  if (BareBytes(found) == BareBytes(expected)) return absl::OkStatus();
  return absl::DataLossError("has other nodes or weights than expected");
}

}  // namespace tara::nn
