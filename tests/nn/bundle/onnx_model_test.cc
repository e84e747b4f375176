// What ONNX Runtime says of these models is held to LibTorch in
// tests/js/bundle.test.mjs.

#include "tara/nn/bundle/onnx_model.h"

#include <onnx/checker.h>
#include <onnx/onnx_pb.h>

#include <set>
#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/nn/weights/fold_norms.h"
#include "tests/nn/bundle/test_network.h"

namespace tara::nn {
namespace {

using ::testing::HasSubstr;

const Checkpoint& Folded() {
  static const auto* const folded =
      new Checkpoint(FoldNorms(SmallNetwork()).value());
  return *folded;
}

onnx::ModelProto Parsed(const std::string& bytes) {
  onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(bytes));
  return model;
}

TEST(OnnxModelTest, IsOfTheOpsetAndAcceptedByTheChecker) {
  for (const WeightType type : {WeightType::kFloat32, WeightType::kFloat16}) {
    const auto bytes = MakeOnnxModel(Folded(), type);
    ASSERT_TRUE(bytes.ok()) << bytes.status();
    const onnx::ModelProto model = Parsed(*bytes);
    ASSERT_EQ(model.opset_import_size(), 1);
    EXPECT_EQ(model.opset_import(0).version(), 17);
    EXPECT_NO_THROW(onnx::checker::check_model(model));
  }
}

TEST(OnnxModelTest, InputsAndOutputsHaveABatchOfAnySize) {
  const onnx::ModelProto model =
      Parsed(MakeOnnxModel(Folded(), WeightType::kFloat32).value());
  std::set<std::string> names;
  for (const auto* const values :
       {&model.graph().input(), &model.graph().output()}) {
    for (const onnx::ValueInfoProto& value : *values) {
      names.insert(value.name());
      EXPECT_EQ(value.type().tensor_type().shape().dim(0).dim_param(), "batch");
    }
  }
  EXPECT_EQ(names, (std::set<std::string>{"planes", "globals", "policy",
                                          "result", "margins", "owner"}));
}

TEST(OnnxModelTest, UsesOnlyOperatorsThatBrowsersRunWell) {
  const std::set<std::string> allowed = {
      "Conv",          "Gemm",    "Relu",    "Add",
      "Mul",           "Concat",  "Flatten", "GlobalAveragePool",
      "GlobalMaxPool", "Reshape", "Gather",  "Unsqueeze",
      "Split"};
  const onnx::ModelProto model =
      Parsed(MakeOnnxModel(Folded(), WeightType::kFloat32).value());
  for (const onnx::NodeProto& node : model.graph().node()) {
    EXPECT_TRUE(allowed.count(node.op_type())) << node.op_type();
  }
}

TEST(OnnxModelTest, ANetworkWithoutOwnersHasNoSuchOutput) {
  const Checkpoint folded =
      FoldNorms(RandomNetwork({.channels = 8, .blocks = 1}, 2, false)).value();
  const onnx::ModelProto model =
      Parsed(MakeOnnxModel(folded, WeightType::kFloat32).value());
  EXPECT_EQ(model.graph().output_size(), 3);
}

TEST(OnnxModelTest, WeightsComeBackBitForBit) {
  const auto read = ReadOnnxWeights(
      MakeOnnxModel(Folded(), WeightType::kFloat32).value(), Folded().shape);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->tensors.size(), Folded().tensors.size());
  for (const NamedTensor& tensor : Folded().tensors) {
    const auto found = read->Find(tensor.name, tensor.shape);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ((*found)->values, tensor.values) << tensor.name;
  }
}

TEST(OnnxModelTest, RoundedWeightsComeBackFromBothTypes) {
  Checkpoint rounded = Folded();
  ASSERT_TRUE(RoundToFloat16(rounded).ok());
  for (const WeightType type : {WeightType::kFloat32, WeightType::kFloat16}) {
    const Checkpoint read =
        ReadOnnxWeights(MakeOnnxModel(rounded, type).value(), rounded.shape)
            .value();
    for (const NamedTensor& tensor : rounded.tensors) {
      EXPECT_EQ(read.Find(tensor.name, tensor.shape).value()->values,
                tensor.values)
          << tensor.name;
    }
  }
}

TEST(OnnxModelTest, AModelIsThatOfItsWeightsNodeByNode) {
  const std::string source =
      MakeOnnxModel(Folded(), WeightType::kFloat32).value();
  const auto check = [&](const std::string& model, WeightType type) {
    return CheckOnnxModel(model, source, Folded().shape, type);
  };
  for (const WeightType type : {WeightType::kFloat32, WeightType::kFloat16}) {
    const std::string model = MakeOnnxModel(Folded(), type).value();
    EXPECT_TRUE(check(model, type).ok());
    onnx::ModelProto reworded = Parsed(model);
    reworded.mutable_graph()->set_doc_string("in other words");
    EXPECT_TRUE(check(reworded.SerializeAsString(), type).ok());
    onnx::ModelProto rounded = Parsed(model);
    std::string& weights =
        *rounded.mutable_graph()->mutable_initializer(9)->mutable_raw_data();
    weights[0] = static_cast<char>(weights[0] ^ 1);
    onnx::ModelProto rewired = Parsed(model);
    for (onnx::NodeProto& node : *rewired.mutable_graph()->mutable_node()) {
      if (node.op_type() == "GlobalMaxPool") {
        node.set_op_type("GlobalAveragePool");
      }
    }
    for (const onnx::ModelProto& other : {rounded, rewired}) {
      EXPECT_EQ(check(other.SerializeAsString(), type).code(),
                absl::StatusCode::kDataLoss);
    }
  }
  EXPECT_EQ(check(source, WeightType::kFloat16).code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(check("no model", WeightType::kFloat32).code(),
            absl::StatusCode::kDataLoss);
}

TEST(OnnxModelTest, Float16TakesHalfOfTheSpace) {
  const Checkpoint large =
      FoldNorms(RandomNetwork({.channels = 64, .blocks = 2}, 3, false)).value();
  EXPECT_LT(MakeOnnxModel(large, WeightType::kFloat16).value().size(),
            MakeOnnxModel(large, WeightType::kFloat32).value().size() * 0.55);
}

TEST(OnnxModelTest, AMissingTensorIsNamed) {
  Checkpoint folded = Folded();
  for (NamedTensor& tensor : folded.tensors) {
    if (tensor.name == "policy_pass.bias") tensor.name = "x";
  }
  const absl::Status status =
      MakeOnnxModel(folded, WeightType::kFloat32).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("policy_pass.bias"));
}

TEST(OnnxModelTest, WhatIsNoModelIsRefused) {
  for (const std::string& bytes : {std::string("no model"), std::string()}) {
    const auto read = ReadOnnxWeights(bytes, Folded().shape);
    // An empty message is one without weights.
    if (bytes.empty()) {
      EXPECT_FALSE(read->Has("stem_conv.weight"));
      continue;
    }
    EXPECT_EQ(read.status().code(), absl::StatusCode::kDataLoss);
  }
}

TEST(OnnxModelTest, ATensorWithBytesMissingIsNamed) {
  onnx::ModelProto model =
      Parsed(MakeOnnxModel(Folded(), WeightType::kFloat32).value());
  for (onnx::TensorProto& tensor :
       *model.mutable_graph()->mutable_initializer()) {
    if (tensor.name() == "value_hidden.bias") tensor.set_raw_data("abc");
  }
  const absl::Status status =
      ReadOnnxWeights(model.SerializeAsString(), Folded().shape).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("value_hidden.bias"));
}

}  // namespace
}  // namespace tara::nn
