#include "tara/nn/weights/fold_norms.h"

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/nn/bundle/golden.h"
#include "tara/nn/heads.h"
#include "tests/nn/bundle/test_bundle.h"
#include "tests/nn/torch_testing.h"

namespace tara::nn {
namespace {

using ::testing::FloatNear;
using ::testing::Pointwise;

TEST(FoldNormsTest, AFoldedNetworkSaysTheSame) {
  const Checkpoint network = SmallNetwork();
  const auto folded = FoldNorms(network);
  ASSERT_TRUE(folded.ok()) << folded.status();
  GoldenTensors before =
      EncodeGoldenPositions(MakeGoldenPositions(SmallBundleOptions().variants));
  GoldenTensors after = before;
  ASSERT_TRUE(ComputeTorchOutputs(network, before).ok());
  ASSERT_TRUE(ComputeTorchOutputs(*folded, after).ok());
  EXPECT_THAT(after.policy, Pointwise(FloatNear(1e-5f), before.policy));
  EXPECT_THAT(after.result, Pointwise(FloatNear(1e-5f), before.result));
  EXPECT_THAT(after.margins, Pointwise(FloatNear(1e-5f), before.margins));
  EXPECT_THAT(after.owner, Pointwise(FloatNear(1e-5f), before.owner));
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
  const Checkpoint folded = FoldNorms(SmallNetwork()).value();
  for (const HeadInfo& head : kHeads) {
    EXPECT_EQ(folded.HasPrefix(head.tensors), head.in_bundles) << head.name;
  }
  for (const NamedTensor& tensor : folded.tensors) {
    EXPECT_FALSE(IsOfOptimizer(tensor.name) ||
                 absl::StrContains(tensor.name, "/"))
        << tensor.name;
  }
}

TEST(FoldNormsTest, AHeadThatWasNeverTaughtIsLeftOut) {
  const Checkpoint network =
      LivelyNetwork({.channels = 8, .blocks = 1}, 2, /*with_owner=*/false);
  ASSERT_TRUE(network.Has("owner_planes.weight"));
  EXPECT_FALSE(HasLearned(network, Head::kOwner));
  EXPECT_FALSE(FoldNorms(network).value().Has("owner_planes.weight"));
}

}  // namespace
}  // namespace tara::nn
