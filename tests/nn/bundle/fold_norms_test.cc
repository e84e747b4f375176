#include "tara/nn/bundle/fold_norms.h"

#include <cmath>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/nn/bundle/golden.h"
#include "tara/nn/bundle/torchscript.h"
#include "tests/nn/bundle/test_network.h"

namespace tara::nn {
namespace {

using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

NetworkInputs Inputs() {
  return EncodeGoldenPositions(
      MakeGoldenPositions(SmallBundleOptions().variants));
}

TEST(FoldNormsTest, AFoldedNetworkSaysTheSame) {
  const Checkpoint network = SmallNetwork();
  const auto folded = FoldNorms(network);
  ASSERT_TRUE(folded.ok()) << folded.status();
  const auto before = ComputeTorchOutputs(network, Inputs());
  const auto after = ComputeTorchOutputs(*folded, Inputs());
  ASSERT_TRUE(before.ok()) << before.status();
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_THAT(after->policy, Pointwise(FloatNear(1e-5f), before->policy));
  EXPECT_THAT(after->result, Pointwise(FloatNear(1e-5f), before->result));
  EXPECT_THAT(after->margins, Pointwise(FloatNear(1e-5f), before->margins));
  EXPECT_THAT(after->owner, Pointwise(FloatNear(1e-5f), before->owner));
}

TEST(FoldNormsTest, FoldingAgainChangesNoBit) {
  const Checkpoint once = FoldNorms(SmallNetwork()).value();
  const Checkpoint twice = FoldNorms(once).value();
  for (const NamedTensor& tensor : once.tensors) {
    EXPECT_EQ(twice.Find(tensor.name, tensor.shape).value()->values,
              tensor.values)
        << tensor.name;
  }
}

TEST(FoldNormsTest, OnlyWhatPlaysIsKept) {
  const Checkpoint network = SmallNetwork();
  ASSERT_TRUE(network.Has("reply_pass.weight"));
  const Checkpoint folded = FoldNorms(network).value();
  EXPECT_TRUE(folded.Has("owner_planes.weight"));
  for (const NamedTensor& tensor : folded.tensors) {
    EXPECT_FALSE(absl::StartsWith(tensor.name, "reply") ||
                 absl::StartsWith(tensor.name, "kingdoms") ||
                 absl::StartsWith(tensor.name, "adamw") ||
                 absl::StrContains(tensor.name, "/"))
        << tensor.name;
  }
}

TEST(FoldNormsTest, AHeadThatWasNeverTaughtIsLeftOut) {
  const Checkpoint network =
      RandomNetwork({.channels = 8, .blocks = 1}, 2, /*with_owner=*/false);
  ASSERT_TRUE(network.Has("owner_planes.weight"));
  EXPECT_FALSE(HasLearnedOwner(network));
  EXPECT_FALSE(FoldNorms(network).value().Has("owner_planes.weight"));
}

TEST(FoldNormsTest, AMissingTensorIsNamed) {
  for (const char* const missing :
       {"block1.second.norm.running_var", "block1.second.conv.weight",
        "stem_globals.weight", "value_conv.norm.bias"}) {
    Checkpoint network = SmallNetwork();
    for (NamedTensor& tensor : network.tensors) {
      if (tensor.name == missing) tensor.name = "elsewhere";
    }
    const absl::Status status = FoldNorms(network).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr(missing));
  }
}

TEST(FoldNormsTest, RoundedWeightsAreThoseOfFloat16) {
  Checkpoint folded = FoldNorms(SmallNetwork()).value();
  const Checkpoint exact = folded;
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

TEST(FoldNormsTest, AWeightBeyondFloat16IsNamed) {
  Checkpoint folded = FoldNorms(SmallNetwork()).value();
  for (NamedTensor& tensor : folded.tensors) {
    if (tensor.name == "value_hidden.bias") tensor.values[3] = 1e6f;
  }
  const absl::Status status = RoundToFloat16(folded);
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(status.message()), HasSubstr("value_hidden.bias"));
}

}  // namespace
}  // namespace tara::nn
