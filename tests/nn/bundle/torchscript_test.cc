#include "tara/nn/bundle/torchscript.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/nn/bundle/golden.h"
#include "tara/nn/weights/fold_norms.h"
#include "tests/nn/bundle/test_network.h"

namespace tara::nn {
namespace {

using ::testing::HasSubstr;
using ::testing::Pointwise;

NetworkInputs Inputs() {
  return EncodeGoldenPositions(
      MakeGoldenPositions(SmallBundleOptions().variants));
}

// Sums in another order differ by their last bits.
MATCHER(IsClose, "") {
  const auto& [actual, expected] = arg;
  return std::abs(actual - expected) <=
         1e-5f * std::max(1.0f, std::abs(expected));
}

void ExpectEqual(const NetworkOutputs& outputs, const NetworkOutputs& golden) {
  EXPECT_THAT(outputs.policy, Pointwise(IsClose(), golden.policy));
  EXPECT_THAT(outputs.result, Pointwise(IsClose(), golden.result));
  EXPECT_THAT(outputs.margins, Pointwise(IsClose(), golden.margins));
  EXPECT_THAT(outputs.owner, Pointwise(IsClose(), golden.owner));
}

TEST(TorchScriptTest, SaysWhatTheNetworkSays) {
  for (const bool with_owner : {false, true}) {
    const Checkpoint folded =
        FoldNorms(RandomNetwork({.channels = 8, .blocks = 3}, 4, with_owner))
            .value();
    const auto golden = ComputeTorchOutputs(folded, Inputs());
    ASSERT_TRUE(golden.ok()) << golden.status();
    EXPECT_EQ(golden->owner.empty(), !with_owner);
    const auto module = MakeTorchScript(folded, WeightType::kFloat32);
    ASSERT_TRUE(module.ok()) << module.status();
    const auto outputs = RunTorchScript(*module, Inputs(), with_owner);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    ExpectEqual(*outputs, *golden);
  }
}

TEST(TorchScriptTest, RoundedWeightsSayTheSameFromBothTypes) {
  Checkpoint rounded = FoldNorms(SmallNetwork()).value();
  ASSERT_TRUE(RoundToFloat16(rounded).ok());
  const auto golden = ComputeTorchOutputs(rounded, Inputs());
  ASSERT_TRUE(golden.ok()) << golden.status();
  for (const WeightType type : {WeightType::kFloat32, WeightType::kFloat16}) {
    const auto outputs =
        RunTorchScript(MakeTorchScript(rounded, type).value(), Inputs(), true);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    ExpectEqual(*outputs, *golden);
  }
}

TEST(TorchScriptTest, WhatIsNoModuleIsRefusedInOneLine) {
  for (const char* const bytes : {"", "no module"}) {
    const absl::Status status = RunTorchScript(bytes, Inputs(), true).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(status.message()), ::testing::Not(HasSubstr("\n")));
  }
}

TEST(TorchScriptTest, OtherOutputsAreRefused) {
  const Checkpoint folded = FoldNorms(SmallNetwork()).value();
  const std::string module =
      MakeTorchScript(folded, WeightType::kFloat32).value();
  const absl::Status status =
      RunTorchScript(module, Inputs(), /*with_owner=*/false).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("tuple of 3"));
}

}  // namespace
}  // namespace tara::nn
