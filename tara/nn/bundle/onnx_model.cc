#include "tara/nn/bundle/onnx_model.h"

#include <onnx/onnx_pb.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tara/base/status_macros.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/nn/bundle/onnx_graph.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/heads.h"
#include "tara/nn/weights/fold_norms.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tara::nn {
namespace {

// To the nearest number, of two equally near the even one; and back.
#if defined(__x86_64__)
uint16_t ToFloat16(float value) {
  return _cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT);
}
float FromFloat16(uint16_t bits) { return _cvtsh_ss(bits); }
#else
uint16_t ToFloat16(float value) {
  return std::bit_cast<uint16_t>(static_cast<__fp16>(value));
}
float FromFloat16(uint16_t bits) { return std::bit_cast<__fp16>(bits); }
#endif

}  // namespace

std::string WeightTypeName(WeightType type) {
  return type == WeightType::kFloat32 ? "float32" : "float16";
}

absl::Status CheckFloat16(const Checkpoint& folded) {
  for (const NamedTensor& tensor : folded.tensors) {
    if (IsNeutralNorm(tensor.name)) continue;
    for (const float value : tensor.values) {
      if (std::abs(value) <= kMaxFloat16) continue;  // NaN is not
      return absl::OutOfRangeError(absl::StrCat(
          "tensor ", tensor.name, " holds ", value,
          ", which float16 cannot represent; expected at most ", kMaxFloat16));
    }
  }
  return absl::OkStatus();
}

absl::Status RoundToFloat16(Checkpoint& folded) {
  TARA_RETURN_IF_ERROR(CheckFloat16(folded));
  for (NamedTensor& tensor : folded.tensors) {
    if (IsNeutralNorm(tensor.name)) continue;
    for (float& value : tensor.values) value = FromFloat16(ToFloat16(value));
  }
  return absl::OkStatus();
}

namespace {

// Describes a float32 input or output, whose first axis is the batch.
void Describe(const std::string& name, const std::vector<int64_t>& axes,
              onnx::ValueInfoProto* value) {
  value->set_name(name);
  onnx::TypeProto::Tensor* const type =
      value->mutable_type()->mutable_tensor_type();
  type->set_elem_type(onnx::TensorProto::FLOAT);
  type->mutable_shape()->add_dim()->set_dim_param("batch");
  for (const int64_t axis : axes) {
    type->mutable_shape()->add_dim()->set_dim_value(axis);
  }
}

template <typename T>
std::string AddTensor(const std::string& name, int type,
                      const std::vector<int64_t>& shape,
                      const std::vector<T>& values, onnx::GraphProto* graph) {
  onnx::TensorProto* const tensor = graph->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(type);
  for (const int64_t axis : shape) tensor->add_dims(axis);
  tensor->set_raw_data(values.data(), values.size() * sizeof(T));
  return name;
}

}  // namespace

void GraphWriter::AddInput(const std::string& name, const Integers& axes) {
  Describe(name, axes, graph_->add_input());
}

void GraphWriter::AddOutput(const std::string& name, const Integers& axes) {
  Describe(name, axes, graph_->add_output());
}

std::string GraphWriter::AddNode(const std::string& type,
                                 const std::string& name,
                                 const std::vector<std::string>& inputs,
                                 const std::vector<std::string>& outputs,
                                 const Attributes& attributes) {
  onnx::NodeProto* const node = graph_->add_node();
  node->set_op_type(type);
  node->set_name(name);
  for (const std::string& input : inputs) node->add_input(input);
  for (const std::string& output : outputs) node->add_output(output);
  for (const auto& [key, value] : attributes) {
    onnx::AttributeProto* const attribute = node->add_attribute();
    attribute->set_name(key);
    if (const auto* const number = std::get_if<int64_t>(&value)) {
      attribute->set_type(onnx::AttributeProto::INT);
      attribute->set_i(*number);
    } else {
      attribute->set_type(onnx::AttributeProto::INTS);
      for (const int64_t each : std::get<Integers>(value)) {
        attribute->add_ints(each);
      }
    }
  }
  return name;
}

void GraphWriter::AddValues(const std::string& values) {
  AddNode("Split", "values",
          {values, AddIntegers("sizes_of_values", {kNumResults, kNumMargins})},
          {"result", "margins"}, {{"axis", 1}});
  AddOutput("result", {kNumResults});
  AddOutput("margins", {kNumMargins});
}

std::string GraphWriter::AddConstant(absl::string_view name,
                                     const Integers& shape,
                                     const std::vector<float>& values) {
  return AddTensor(absl::StrCat(kOnnxConstant, name), onnx::TensorProto::FLOAT,
                   shape, values, graph_);
}

std::string GraphWriter::AddIntegers(absl::string_view name,
                                     const Integers& values) {
  return AddTensor(absl::StrCat(kOnnxConstant, name), onnx::TensorProto::INT64,
                   {static_cast<int64_t>(values.size())}, values, graph_);
}

std::string GraphWriter::Weights(const std::string& name) {
  const NamedTensor* const tensor = network_.Find(name);
  if (tensor == nullptr) {
    status_.Update(
        absl::InvalidArgumentError(absl::StrCat("missing tensor ", name)));
    return name;
  }
  if (weights_ == WeightType::kFloat32) {
    return AddTensor(name, onnx::TensorProto::FLOAT, tensor->shape,
                     tensor->values, graph_);
  }
  std::vector<uint16_t> halves;
  for (const float value : tensor->values) halves.push_back(ToFloat16(value));
  AddTensor(name, onnx::TensorProto::FLOAT16, tensor->shape, halves, graph_);
  return Add("Cast", name + ".float32", {name},
             {{"to", int64_t{onnx::TensorProto::FLOAT}}});
}

int64_t GraphWriter::SizeOf(absl::string_view tensor, size_t axis) const {
  const NamedTensor* const found = network_.Find(tensor);
  const bool has_axis = found != nullptr && found->shape.size() > axis;
  return has_axis ? found->shape[axis] : 0;
}

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
    std::string tower = AddStem();
    for (int i = 0; i < network().shape.blocks; ++i) {
      tower = AddBlock(absl::StrCat("block", i), tower);
    }
    AddPolicy(tower);
    AddValue(tower);
    return status();
  }

 private:
  // 1 on hills, 0 on corners.
  static std::vector<float> HillMask() {
    std::vector<float> mask(kNumSquares);
    for (const int square : kHillSquares) mask[square] = 1;
    return mask;
  }

  // A convolution that keeps the grid's size.
  std::string Convolution(const std::string& name, const std::string& weight,
                          const std::string& bias, int kernel,
                          const std::string& input) {
    const int64_t edge = kernel / 2;
    return Add("Conv", name, {input, Weights(weight), Weights(bias)},
               {{"kernel_shape", Integers{kernel, kernel}},
                {"pads", Integers{edge, edge, edge, edge}}});
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
    return Add("Gemm", layer, inputs, {{"transB", 1}});
  }

  std::string Concat(const std::string& name,
                     const std::vector<std::string>& values) {
    return Add("Concat", name, values, {{"axis", 1}});
  }
  std::string Flatten(const std::string& name, const std::string& values) {
    return Add("Flatten", name, {values}, {{"axis", 1}});
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
        Concat(values + ".mean_and_maximum", {mean, maximum});
    return Flatten(values + ".pooled", both);
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
    const std::string flat = Flatten("policy_planes.flat", planes);
    const std::string all = Concat("policy_outputs", {flat, pass});
    const std::string outputs = AddIntegers(
        "outputs_of_actions", {kPolicyOutputs.begin(), kPolicyOutputs.end()});
    Add("Gather", "policy", {all, outputs}, {{"axis", 1}});
    AddOutput("policy", {kNumActions});
  }

  void AddValue(const std::string& tower) {
    const std::string seen = Relu(Folded("value_conv", 1, tower));
    const std::string hidden = Linear("value_hidden", true, Pool(seen));
    const std::string values = Linear("value_output", true, Relu(hidden));
    AddValues(values);
    if (!network().Has("owner_planes.weight")) return;

    const std::string planes = Convolution(
        "owner_planes", "owner_planes.weight", "owner_planes.bias", 1, seen);
    const std::string flat =
        Add("Reshape", "owner_planes.flat",
            {planes, AddIntegers("owner_shape", {0, 3, kNumSquares})});
    Add("Gather", "owner", {flat, squares_}, {{"axis", 2}});
    AddOutput("owner", {3, kNumHills});
  }

  const std::string hills_ =
      AddConstant("hills", {1, 1, kBoardSize, kBoardSize}, HillMask());
  // From the mean over all squares to that over the hills.
  const std::string mean_scale_ = AddConstant(
      "mean_scale", {1}, {static_cast<float>(kNumSquares) / kNumHills});
  const std::string places_ = AddIntegers("places", {2, 3});
  const std::string squares_ =
      AddIntegers("squares", {kHillSquares.begin(), kHillSquares.end()});
};

onnx::ModelProto EmptyModel() {
  onnx::ModelProto model;
  model.set_ir_version(kIrVersion);
  model.set_producer_name("tara");
  onnx::OperatorSetIdProto* const opset = model.add_opset_import();
  opset->set_domain("");
  opset->set_version(kOnnxOpset);
  for (const auto& [key, version] : {std::pair("features", kFeatureVersion),
                                     std::pair("policy", kPolicyVersion),
                                     std::pair("values", kValueVersion)}) {
    onnx::StringStringEntryProto* const property = model.add_metadata_props();
    property->set_key(absl::StrCat(key, "_version"));
    property->set_value(absl::StrCat(version));
  }
  model.mutable_graph()->set_name("tara");
  model.mutable_graph()->set_doc_string(
      "The network of a model bundle of Tara; docs/reference/bundle.md says "
      "how to ask it.");
  return model;
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
  const auto read = [&](auto number, auto to_float) {
    if (bytes.size() != count * sizeof(number)) return false;
    values.values.resize(count);
    for (size_t i = 0; i < count; ++i) {
      std::memcpy(&number, bytes.data() + i * sizeof(number), sizeof(number));
      values.values[i] = to_float(number);
    }
    return true;
  };
  return tensor.data_type() == onnx::TensorProto::FLOAT
             ? read(float{}, [](float number) { return number; })
             : read(uint16_t{}, FromFloat16);
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
