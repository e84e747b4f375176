// What ONNX Runtime says of these models is held to LibTorch in
// tests/js/bundle.test.mjs.

#include "tara/nn/bundle/onnx_model.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/nn/weights/fold_norms.h"
#include "tests/nn/bundle/test_bundle.h"
#include "tests/nn/torch_testing.h"
#include "tests/status_matchers.h"

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

TEST(OnnxModelTest, InputsAndOutputsHaveABatchOfAnySize) {
  const onnx::ModelProto model =
      Parsed(MakeOnnxModel(Folded(), WeightType::kFloat32).value());
  EXPECT_EQ(model.opset_import(0).version(), 17);
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
  ExpectOperators(MakeOnnxModel(Folded(), WeightType::kFloat32).value(),
                  {"Conv", "Gemm", "Relu", "Add", "Mul", "Concat", "Flatten",
                   "GlobalAveragePool", "GlobalMaxPool", "Reshape", "Gather",
                   "Unsqueeze", "Split"});
}

TEST(OnnxModelTest, ANetworkWithoutOwnersHasNoSuchOutput) {
  const Checkpoint folded =
      FoldNorms(LivelyNetwork({.channels = 8, .blocks = 1}, 2, false)).value();
  const onnx::ModelProto model =
      Parsed(MakeOnnxModel(folded, WeightType::kFloat32).value());
  EXPECT_EQ(model.graph().output_size(), 3);
}

TEST(OnnxModelTest, WeightsComeBackBitForBitFromEveryTypeThatHoldsThem) {
  Checkpoint rounded = Folded();
  ASSERT_THAT(RoundToFloat16(rounded), IsOk());
  for (const auto& [network, type] : {std::pair{Folded(), WeightType::kFloat32},
                                      {rounded, WeightType::kFloat32},
                                      {rounded, WeightType::kFloat16}}) {
    const auto read =
        ReadOnnxWeights(MakeOnnxModel(network, type).value(), network.shape);
    ASSERT_THAT(read, IsOk());
    EXPECT_EQ(read->tensors.size(), network.tensors.size());
    for (const NamedTensor& tensor : network.tensors) {
      EXPECT_EQ(read->Find(tensor.name, tensor.shape).value()->values,
                tensor.values)
          << tensor.name;
    }
  }
}

TEST(RoundToFloat16Test, RoundedWeightsAreThoseOfFloat16) {
  Checkpoint folded = Folded();
  const Checkpoint& exact = Folded();
  ASSERT_TRUE(RoundToFloat16(folded).ok());
  int changed = 0;
  for (size_t t = 0; t < folded.tensors.size(); ++t) {
    for (size_t i = 0; i < folded.tensors[t].values.size(); ++i) {
      const float before = exact.tensors[t].values[i];
      const float after = folded.tensors[t].values[i];
      changed += before != after;
      // Ten bits of mantissa: half a unit is 2^-11 of the number; below 2^-14
      // it is 2^-25.
      EXPECT_LE(std::abs(before - after),
                std::max(0x1p-11f * std::abs(before), 0x1p-25f));
    }
  }
  EXPECT_GT(changed, 1000);
}

TEST(RoundToFloat16Test, AWeightBeyondFloat16IsNamed) {
  Checkpoint folded = Folded();
  folded.Find("value_hidden.bias")->values[3] = 1e6f;
  EXPECT_THAT(RoundToFloat16(folded), StatusIs(absl::StatusCode::kOutOfRange,
                                               HasSubstr("value_hidden.bias")));
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
      EXPECT_THAT(check(other.SerializeAsString(), type),
                  StatusIs(absl::StatusCode::kDataLoss));
    }
  }
  EXPECT_THAT(check(source, WeightType::kFloat16),
              StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(check("no model", WeightType::kFloat32),
              StatusIs(absl::StatusCode::kDataLoss));
}

TEST(OnnxModelTest, Float16TakesHalfOfTheSpace) {
  const Checkpoint large =
      FoldNorms(LivelyNetwork({.channels = 64, .blocks = 2})).value();
  EXPECT_LT(MakeOnnxModel(large, WeightType::kFloat16)->size(),
            MakeOnnxModel(large, WeightType::kFloat32)->size() * 0.55);
}

TEST(OnnxModelTest, AMissingTensorIsNamed) {
  Checkpoint folded = Folded();
  folded.Find("policy_pass.bias")->name = "x";
  EXPECT_THAT(MakeOnnxModel(folded, WeightType::kFloat32),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("policy_pass.bias")));
}

TEST(OnnxModelTest, WhatIsNoModelIsRefused) {
  EXPECT_THAT(ReadOnnxWeights("no model", Folded().shape),
              StatusIs(absl::StatusCode::kDataLoss));
  // An empty message is one without weights.
  EXPECT_FALSE(ReadOnnxWeights("", Folded().shape)->Has("stem_conv.weight"));
  onnx::ModelProto model =
      Parsed(MakeOnnxModel(Folded(), WeightType::kFloat32).value());
  for (onnx::TensorProto& tensor :
       *model.mutable_graph()->mutable_initializer()) {
    if (tensor.name() == "value_hidden.bias") tensor.set_raw_data("abc");
  }
  EXPECT_THAT(
      ReadOnnxWeights(model.SerializeAsString(), Folded().shape),
      StatusIs(absl::StatusCode::kDataLoss, HasSubstr("value_hidden.bias")));
}

}  // namespace
}  // namespace tara::nn
