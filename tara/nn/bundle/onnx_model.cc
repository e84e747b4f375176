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

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tara/base/status_macros.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/nn/bundle/float16.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/weights/fold_norms.h"

namespace tara::nn {
namespace {

static_assert(std::endian::native == std::endian::little,
              "raw data of ONNX is little-endian");

void Describe(const std::string& name, const std::vector<int64_t>& axes,
              onnx::ValueInfoProto* value) {
  value->set_name(name);
  onnx::TypeProto::Tensor* const type =
      value->mutable_type()->mutable_tensor_type();
  type->set_elem_type(onnx::TensorProto::FLOAT);
  type->mutable_shape()->add_dim()->set_dim_param(kOnnxBatch);
  for (const int64_t axis : axes) {
    type->mutable_shape()->add_dim()->set_dim_value(axis);
  }
}

template <typename T>
std::string BytesOf(absl::Span<const T> values) {
  return std::string(reinterpret_cast<const char*>(values.data()),
                     values.size() * sizeof(T));
}

}  // namespace

void SetOnnxAttribute(const std::string& name, int64_t value,
                      onnx::NodeProto* node) {
  onnx::AttributeProto* const attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::INT);
  attribute->set_i(value);
}

void SetOnnxAttribute(const std::string& name,
                      const std::vector<int64_t>& values,
                      onnx::NodeProto* node) {
  onnx::AttributeProto* const attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::INTS);
  for (const int64_t value : values) attribute->add_ints(value);
}

void OnnxGraphBuilder::AddInput(const std::string& name,
                                const std::vector<int64_t>& axes) {
  Describe(name, axes, graph_->add_input());
}

void OnnxGraphBuilder::AddOutput(const std::string& name,
                                 const std::vector<int64_t>& axes) {
  Describe(name, axes, graph_->add_output());
}

onnx::NodeProto* OnnxGraphBuilder::AddNode(
    const std::string& type, const std::string& name,
    const std::vector<std::string>& inputs) {
  onnx::NodeProto* const node = graph_->add_node();
  node->set_op_type(type);
  node->set_name(name);
  for (const std::string& input : inputs) node->add_input(input);
  return node;
}

std::string OnnxGraphBuilder::Add(const std::string& type,
                                  const std::string& name,
                                  const std::vector<std::string>& inputs) {
  AddNode(type, name, inputs)->add_output(name);
  return name;
}

std::string OnnxGraphBuilder::Add(const std::string& type,
                                  const std::string& name,
                                  const std::vector<std::string>& inputs,
                                  const std::string& attribute, int64_t value) {
  onnx::NodeProto* const node = AddNode(type, name, inputs);
  node->add_output(name);
  SetOnnxAttribute(attribute, value, node);
  return name;
}

onnx::TensorProto* OnnxGraphBuilder::AddInitializer(
    const std::string& name, const std::vector<int64_t>& shape, int type) {
  onnx::TensorProto* const tensor = graph_->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(type);
  for (const int64_t axis : shape) tensor->add_dims(axis);
  return tensor;
}

std::string OnnxGraphBuilder::AddWeights(const NamedTensor& tensor) {
  if (weights_ == WeightType::kFloat32) {
    return AddFloats(tensor.name, tensor.shape, tensor.values);
  }
  std::vector<uint16_t> halves;
  for (const float value : tensor.values) halves.push_back(ToFloat16(value));
  AddInitializer(tensor.name, tensor.shape, onnx::TensorProto::FLOAT16)
      ->set_raw_data(BytesOf(absl::MakeConstSpan(halves)));
  return Add("Cast", tensor.name + ".float32", {tensor.name}, "to",
             onnx::TensorProto::FLOAT);
}

std::string OnnxGraphBuilder::AddFloats(const std::string& name,
                                        const std::vector<int64_t>& shape,
                                        absl::Span<const float> values) {
  AddInitializer(name, shape, onnx::TensorProto::FLOAT)
      ->set_raw_data(BytesOf(values));
  return name;
}

std::string OnnxGraphBuilder::AddIntegers(const std::string& name,
                                          const std::vector<int64_t>& values) {
  AddInitializer(name, {static_cast<int64_t>(values.size())},
                 onnx::TensorProto::INT64)
      ->set_raw_data(BytesOf(absl::MakeConstSpan(values)));
  return name;
}

namespace {

// Of opset 17; what ONNX 1.12 writes.
constexpr int kIrVersion = 8;

// Begins the names of constants that are no weights.
constexpr absl::string_view kConstant = "constant.";

// Builds the network that tara/nn/torch/network_torch.h draws.
class NetworkWriter {
 public:
  NetworkWriter(const Checkpoint& network, WeightType weights,
                onnx::GraphProto* graph)
      : network_(network), builder_(weights, graph) {}

  absl::Status Write() {
    builder_.AddInput("planes",
                      {InputsOf("stem_conv.weight"), kBoardSize, kBoardSize});
    builder_.AddInput("globals", {InputsOf("stem_globals.weight")});
    AddConstants();
    TARA_ASSIGN_OR_RETURN(std::string tower, AddStem());
    for (int i = 0; i < network_.shape.blocks; ++i) {
      TARA_ASSIGN_OR_RETURN(tower, AddBlock(absl::StrCat("block", i), tower));
    }
    TARA_RETURN_IF_ERROR(AddPolicy(tower));
    return AddValue(tower);
  }

 private:
  void AddConstants() {
    std::vector<float> hills(kNumSquares);
    std::vector<int64_t> squares;
    for (Hill hill = 0; hill < kNumHills; ++hill) {
      hills[static_cast<size_t>(SquareOf(hill))] = 1;
      squares.push_back(SquareOf(hill));
    }
    hills_ = AddFloats("hills", {1, 1, kBoardSize, kBoardSize}, hills);
    // From the mean over all squares to that over the hills.
    mean_scale_ = AddFloats("mean_scale", {1},
                            {static_cast<float>(kNumSquares) / kNumHills});
    places_ = builder_.AddIntegers(absl::StrCat(kConstant, "places"), {2, 3});
    squares_ =
        builder_.AddIntegers(absl::StrCat(kConstant, "squares"), squares);
  }

  std::string AddFloats(absl::string_view name,
                        const std::vector<int64_t>& shape,
                        const std::vector<float>& values) {
    return builder_.AddFloats(absl::StrCat(kConstant, name), shape, values);
  }
  // Returns how many inputs a layer has, by its weights [outputs, inputs, ...];
  // 0 where they are missing or misshapen.
  int64_t InputsOf(absl::string_view name) const {
    for (const NamedTensor& tensor : network_.tensors) {
      if (tensor.name == name && tensor.shape.size() > 1) {
        return tensor.shape[1];
      }
    }
    return 0;
  }
  absl::StatusOr<std::string> Weights(const std::string& name) {
    for (const NamedTensor& tensor : network_.tensors) {
      if (tensor.name == name) return builder_.AddWeights(tensor);
    }
    return absl::InvalidArgumentError(
        absl::StrCat("there is no tensor ", name));
  }

  // A convolution that keeps the grid's size.
  absl::StatusOr<std::string> Convolution(const std::string& name,
                                          const std::string& weight,
                                          const std::string& bias, int kernel,
                                          const std::string& input) {
    TARA_ASSIGN_OR_RETURN(const std::string weights, Weights(weight));
    TARA_ASSIGN_OR_RETURN(const std::string biases, Weights(bias));
    onnx::NodeProto* const node =
        builder_.AddNode("Conv", name, {input, weights, biases});
    node->add_output(name);
    SetOnnxAttribute("kernel_shape", {kernel, kernel}, node);
    const int64_t edge = kernel / 2;
    SetOnnxAttribute("pads", {edge, edge, edge, edge}, node);
    return name;
  }

  // A convolution with what is left of its norm.
  absl::StatusOr<std::string> Folded(const std::string& layer, int kernel,
                                     const std::string& input) {
    return Convolution(layer, layer + ".conv.weight", layer + ".norm.bias",
                       kernel, input);
  }

  absl::StatusOr<std::string> Linear(const std::string& layer, bool has_bias,
                                     const std::string& input) {
    std::vector<std::string> inputs = {input};
    TARA_ASSIGN_OR_RETURN(inputs.emplace_back(), Weights(layer + ".weight"));
    if (has_bias) {
      TARA_ASSIGN_OR_RETURN(inputs.emplace_back(), Weights(layer + ".bias"));
    }
    return builder_.Add("Gemm", layer, inputs, "transB", 1);
  }

  std::string Relu(const std::string& input) {
    return builder_.Add("Relu", input + ".relu", {input});
  }

  // [B, C] as a bias of each channel.
  std::string OfChannels(const std::string& values) {
    return builder_.Add("Unsqueeze", values + ".of_channels",
                        {values, places_});
  }

  // The mean and the maximum over the hills: [B, 2C]. Values are not negative,
  // so that zeros off the board are no maximum.
  std::string Pool(const std::string& values) {
    const std::string masked =
        builder_.Add("Mul", values + ".on_hills", {values, hills_});
    const std::string mean =
        builder_.Add("Mul", values + ".mean",
                     {builder_.Add("GlobalAveragePool",
                                   values + ".mean_of_squares", {masked}),
                      mean_scale_});
    const std::string maximum =
        builder_.Add("GlobalMaxPool", values + ".maximum", {masked});
    const std::string both = builder_.Add(
        "Concat", values + ".mean_and_maximum", {mean, maximum}, "axis", 1);
    return builder_.Add("Flatten", values + ".pooled", {both}, "axis", 1);
  }

  absl::StatusOr<std::string> AddStem() {
    TARA_ASSIGN_OR_RETURN(const std::string seen,
                          Convolution("stem_conv", "stem_conv.weight",
                                      "stem_norm.bias", 3, "planes"));
    TARA_ASSIGN_OR_RETURN(const std::string known,
                          Linear("stem_globals", false, "globals"));
    return Relu(builder_.Add("Add", "stem", {seen, OfChannels(known)}));
  }

  absl::StatusOr<std::string> AddBlock(const std::string& name,
                                       const std::string& input) {
    TARA_ASSIGN_OR_RETURN(const std::string first,
                          Folded(name + ".first", 3, input));
    const std::string inner = Relu(first);
    TARA_ASSIGN_OR_RETURN(const std::string second,
                          Folded(name + ".second", 3, inner));
    std::string sum = builder_.Add("Add", name + ".sum", {second, input});
    if (network_.Has(name + ".pooled.weight")) {
      TARA_ASSIGN_OR_RETURN(const std::string pooled,
                            Linear(name + ".pooled", true, Pool(inner)));
      sum = builder_.Add("Add", name + ".sum_and_pooled",
                         {sum, OfChannels(pooled)});
    }
    return Relu(sum);
  }

  absl::Status AddPolicy(const std::string& tower) {
    const std::string pooled = Pool(tower);
    TARA_ASSIGN_OR_RETURN(const std::string local,
                          Folded("policy_conv", 1, tower));
    TARA_ASSIGN_OR_RETURN(const std::string everywhere,
                          Linear("policy_pooled", false, pooled));
    const std::string policy = Relu(
        builder_.Add("Add", "policy_sum", {local, OfChannels(everywhere)}));
    TARA_ASSIGN_OR_RETURN(const std::string planes,
                          Convolution("policy_planes", "policy_planes.weight",
                                      "policy_planes.bias", 1, policy));
    TARA_ASSIGN_OR_RETURN(const std::string pass,
                          Linear("policy_pass", true, pooled));
    const std::string all = builder_.Add(
        "Concat", "policy_outputs",
        {builder_.Add("Flatten", "policy_planes.flat", {planes}, "axis", 1),
         pass},
        "axis", 1);
    std::vector<int64_t> outputs;
    for (int i = 0; i < kNumActions; ++i) {
      outputs.push_back(PolicyOutput(static_cast<Action>(i)));
    }
    const std::string actions = builder_.AddIntegers(
        absl::StrCat(kConstant, "outputs_of_actions"), outputs);
    builder_.Add("Gather", "policy", {all, actions}, "axis", 1);
    builder_.AddOutput("policy", {kNumActions});
    return absl::OkStatus();
  }

  absl::Status AddValue(const std::string& tower) {
    TARA_ASSIGN_OR_RETURN(const std::string local,
                          Folded("value_conv", 1, tower));
    const std::string seen = Relu(local);
    TARA_ASSIGN_OR_RETURN(const std::string hidden,
                          Linear("value_hidden", true, Pool(seen)));
    TARA_ASSIGN_OR_RETURN(const std::string values,
                          Linear("value_output", true, Relu(hidden)));
    const std::string sizes = builder_.AddIntegers(
        absl::StrCat(kConstant, "sizes_of_values"), {3, kNumMargins});
    onnx::NodeProto* const split =
        builder_.AddNode("Split", "values", {values, sizes});
    split->add_output("result");
    split->add_output("margins");
    SetOnnxAttribute("axis", 1, split);
    builder_.AddOutput("result", {3});
    builder_.AddOutput("margins", {kNumMargins});
    if (!network_.Has("owner_planes.weight")) return absl::OkStatus();

    TARA_ASSIGN_OR_RETURN(const std::string planes,
                          Convolution("owner_planes", "owner_planes.weight",
                                      "owner_planes.bias", 1, seen));
    const std::string flat = builder_.Add(
        "Reshape", "owner_planes.flat",
        {planes, builder_.AddIntegers(absl::StrCat(kConstant, "owner_shape"),
                                      {0, 3, kNumSquares})});
    builder_.Add("Gather", "owner", {flat, squares_}, "axis", 2);
    builder_.AddOutput("owner", {3, kNumHills});
    return absl::OkStatus();
  }

  const Checkpoint& network_;
  OnnxGraphBuilder builder_;
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

}  // namespace

absl::StatusOr<std::string> MakeOnnxModel(const Checkpoint& folded,
                                          WeightType weights) {
  onnx::ModelProto model = EmptyModel();
  NetworkWriter writer(folded, weights, model.mutable_graph());
  TARA_RETURN_IF_ERROR(writer.Write());
  TARA_RETURN_IF_ERROR(Check(model));
  std::string bytes;
  if (!model.SerializeToString(&bytes)) {
    return absl::InternalError("the ONNX model cannot be written: too large");
  }
  return bytes;
}

absl::StatusOr<Checkpoint> ReadOnnxWeights(absl::string_view model,
                                           const NetworkShape& shape) {
  onnx::ModelProto read;
  if (model.size() > INT32_MAX ||
      !read.ParseFromArray(model.data(), static_cast<int>(model.size()))) {
    return absl::DataLossError("is no ONNX model");
  }
  Checkpoint network = {
      .shape = shape, .progress = {}, .optimizer_steps = 0, .tensors = {}};
  for (const onnx::TensorProto& tensor : read.graph().initializer()) {
    if (absl::StartsWith(tensor.name(), kConstant)) continue;
    NamedTensor weights = {.name = tensor.name(), .shape = {}, .values = {}};
    if ((tensor.data_type() != onnx::TensorProto::FLOAT &&
         tensor.data_type() != onnx::TensorProto::FLOAT16) ||
        !ReadValues(tensor, weights)) {
      return absl::DataLossError(absl::StrCat(
          "tensor ", tensor.name(),
          " is none of whole float32 or float16 numbers as raw data"));
    }
    network.tensors.push_back(std::move(weights));
  }
  AddNeutralNorms(network);
  TARA_RETURN_IF_ERROR(AddNewInputs(network));
  return network;
}

}  // namespace tara::nn
