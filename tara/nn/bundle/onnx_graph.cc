#include "tara/nn/bundle/onnx_graph.h"

#include <bit>
#include <cstddef>

#include "tara/nn/bundle/float16.h"

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

}  // namespace tara::nn
