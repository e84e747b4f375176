#include "tara/nn/bundle/onnx_graph.h"

#include <cstddef>

#include "absl/strings/str_cat.h"

namespace tara::nn {
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

void GraphWriter::AddInput(const std::string& name,
                           const std::vector<int64_t>& axes) {
  Describe(name, axes, graph_->add_input());
}

void GraphWriter::AddOutput(const std::string& name,
                            const std::vector<int64_t>& axes) {
  Describe(name, axes, graph_->add_output());
}

onnx::NodeProto* GraphWriter::AddNode(const std::string& type,
                                      const std::string& name,
                                      const std::vector<std::string>& inputs) {
  onnx::NodeProto* const node = graph_->add_node();
  node->set_op_type(type);
  node->set_name(name);
  for (const std::string& input : inputs) node->add_input(input);
  return node;
}

std::string GraphWriter::Add(const std::string& type, const std::string& name,
                             const std::vector<std::string>& inputs) {
  AddNode(type, name, inputs)->add_output(name);
  return name;
}

std::string GraphWriter::Add(const std::string& type, const std::string& name,
                             const std::vector<std::string>& inputs,
                             const std::string& attribute, int64_t value) {
  onnx::NodeProto* const node = AddNode(type, name, inputs);
  node->add_output(name);
  SetAttribute(attribute, value, node);
  return name;
}

void GraphWriter::SetAttribute(const std::string& name, int64_t value,
                               onnx::NodeProto* node) {
  onnx::AttributeProto* const attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::INT);
  attribute->set_i(value);
}

void GraphWriter::SetAttribute(const std::string& name,
                               const std::vector<int64_t>& values,
                               onnx::NodeProto* node) {
  onnx::AttributeProto* const attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::INTS);
  for (const int64_t value : values) attribute->add_ints(value);
}

std::string GraphWriter::AddConstant(absl::string_view name,
                                     const std::vector<int64_t>& shape,
                                     const std::vector<float>& values) {
  return AddTensor(absl::StrCat(kOnnxConstant, name), onnx::TensorProto::FLOAT,
                   shape, values, graph_);
}

std::string GraphWriter::AddIntegers(absl::string_view name,
                                     const std::vector<int64_t>& values) {
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
  return Add("Cast", name + ".float32", {name}, "to", onnx::TensorProto::FLOAT);
}

int64_t GraphWriter::SizeOf(absl::string_view tensor, size_t axis) const {
  const NamedTensor* const found = network_.Find(tensor);
  const bool has_axis = found != nullptr && found->shape.size() > axis;
  return has_axis ? found->shape[axis] : 0;
}

}  // namespace tara::nn
