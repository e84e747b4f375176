// Bundles of light networks. What ONNX Runtime computes from their models is
// compared with their golden outputs in tests/js/bundle.test.mjs.

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/mcts/evaluator.h"
#include "tara/nn/bundle/bundle.h"
#include "tara/nn/bundle/onnx_model.h"
#include "tara/nn/bundle/zip_archive.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/light/light.h"
#include "tara/nn/light/light_integers.h"
#include "tara/nn/light/light_network.h"
#include "tests/nn/bundle/test_bundle.h"
#include "tests/nn/light/light_testing.h"
#include "tests/nn/nn_testing.h"

namespace tara::nn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Returns a network whose tensors are all random; without_owner: as if it had
// not learned who owns hills.
Checkpoint LightNetwork(bool with_owner = true) {
  constexpr int kLayers = 2;
  const LightTensors tensors(kLayers);
  Checkpoint network;
  network.shape = {.channels = kLightChannels,
                   .blocks = kLayers,
                   .kind = NetworkKind::kLight};
  tensors.Write(RandomParameters(tensors, 2).data(), "", network);
  if (!with_owner) {
    network.Find("owner_hills.bias")->values.assign(kNumOwners, 0.0f);
  }
  return network;
}

BundleOptions OptionsOf(WeightType weights = WeightType::kFloat32) {
  BundleOptions options;
  options.made_by = "a test";
  options.weights = weights;
  for (const VariantInfo& info : kVariants) {
    options.variants.push_back({.variant = info.variant, .options = {}});
  }
  options.provenance.checkpoint = "ckpt-000003";
  return options;
}

const std::string& LightBundle() {
  static const auto* const bytes =
      new std::string(MakeBundle(LightNetwork(), OptionsOf()).value());
  return *bytes;
}

class LightBundleTest : public BundleFileTest {
 protected:
  LightBundleTest() : BundleFileTest(LightBundle()) {}

  static std::vector<mcts::Evaluation> EvaluationsOf(const std::string& path) {
    return EvaluationsBy(**LoadNetworkEvaluator(path),
                         RandomPositionsOfAllVariants(4, 7));
  }
};

TEST_F(LightBundleTest, AgreesWithItsGoldenPositions) {
  for (const WeightType weights :
       {WeightType::kFloat32, WeightType::kFloat16}) {
    const std::string bytes =
        MakeBundle(LightNetwork(), OptionsOf(weights)).value();
    ExpectDiffering(bytes, {});
    std::vector<std::string> names;
    for (const FormCheck& check : Checks(bytes)) names.push_back(check.name);
    EXPECT_THAT(names, ElementsAre("inputs", "expected", "float32", "int8",
                                   "onnx", "onnx_float16"));
  }
  for (const std::string name : {kOnnxEntry, kOnnxFloat16Entry}) {
    ExpectValidOnnx(Entry(name));
  }
}

TEST_F(LightBundleTest, OtherWeightsDoNotAgree) {
  Checkpoint other = LightNetwork();
  other.Find("value_out.bias")->values[0] += 2;
  ExpectDiffering(
      With(kOnnxEntry, MakeOnnxModel(other, WeightType::kFloat32).value()),
      {"float32", "int8", "onnx_float16"});
}

TEST_F(LightBundleTest, PlaysAsItsCheckpointDoesBitForBit) {
  const Checkpoint without = LightNetwork();
  Checkpoint with = without;
  const LightTensors tensors(with.shape.blocks);
  const AlignedFloats parameters = tensors.Read(with).value();
  WriteLightRanges(MeasureLightRanges(tensors, parameters.data(),
                                      RandomPositionsOfAllVariants(3, 9)),
                   with);
  const std::string checkpoint = folder_.At("checkpoint");
  for (const Checkpoint& network : {without, with}) {
    ASSERT_THAT(WriteCheckpoint(checkpoint, network), IsOk());
    Opened(MakeBundle(network, OptionsOf()).value());
    ExpectEqual(EvaluationsOf(path_), EvaluationsOf(checkpoint));
  }
}

TEST_F(LightBundleTest, HasItsKindAndAFormatOfItsOwn) {
  const Bundle bundle = Opened(bundle_);
  EXPECT_EQ(bundle.manifest().shape, LightNetwork().shape);
  EXPECT_TRUE(bundle.manifest().has_owner);
  // Programs that only know towers read versions 1 and 2.
  EXPECT_THAT(Entry(kManifestEntry), HasSubstr("\"format_version\": 3"));
}

TEST_F(LightBundleTest, WithoutOwnersItPlaysAndHasNoSuchOutput) {
  EXPECT_FALSE(
      Opened(
          MakeBundle(LightNetwork(/*with_owner=*/false), OptionsOf()).value())
          .manifest()
          .has_owner);
  EXPECT_FALSE(EvaluationsOf(path_).empty());
}

TEST_F(LightBundleTest, LearningResumesFromOneMadeForIt) {
  BundleOptions options = OptionsOf();
  options.for_learning = true;
  const auto read = Opened(MakeBundle(LightNetwork(), options).value())
                        .ReadCheckpointToLearnOn();
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read->shape, LightNetwork().shape);
  EXPECT_TRUE(MakeLightTrainer("it", *read, {}).ok());
}

TEST_F(LightBundleTest, AMissingPartIsNamed) {
  for (const std::string& name : ZipReader::Open(bundle_).value().Names()) {
    ExpectDamaged(With(name, ""), name);
  }
}

TEST_F(LightBundleTest, AnotherKindIsRejected) {
  const std::string kind = "\"kind\": \"light\"";
  ExpectRefused(WithText(kManifestEntry, kind, "\"kind\": \"dark\""),
                absl::StatusCode::kFailedPrecondition,
                "a network of kind dark; this program has the kinds tower and "
                "light");
  // Its weights are not those of a tower.
  ExpectDamaged(WithText(kManifestEntry, kind, "\"kind\": \"tower\""),
                "missing tensor");
}

TEST_F(LightBundleTest, AnotherShapeIsRejected) {
  const std::string possible = "expected 64 channels and 1 to 8 layers";
  ExpectDamaged(
      WithText(kManifestEntry, "\"channels\": 64", "\"channels\": 32"),
      possible);
  ExpectDamaged(WithText(kManifestEntry, "\"blocks\": 2", "\"blocks\": 9"),
                possible);
  ExpectDamaged(WithText(kManifestEntry, "\"blocks\": 2", "\"blocks\": 1"),
                "calibration/hills.npy");
  // Rows of the pattern's owners, off the board left out.
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(Entry(kOnnxEntry)));
  for (onnx::TensorProto& tensor :
       *model.mutable_graph()->mutable_initializer()) {
    if (tensor.name() != "near_hidden1.weight") continue;
    tensor.set_dims(0, kPatternInputs - kPatternHills);
    tensor.mutable_raw_data()->resize(
        sizeof(float) * (kPatternInputs - kPatternHills) * kLightChannels);
  }
  ExpectDamaged(
      With(kOnnxEntry, model.SerializeAsString()),
      "tensor near_hidden1.weight has shape [27, 64]; expected [36, 64]");
}

TEST_F(LightBundleTest, WeightsThatOverflowAreRejected) {
  for (const float value : {1e9f, -1e9f, kInfinity, kNan}) {
    ExpectDamaged(WithWeight("layer1_mix.weight", value), "layer1_mix.weight");
  }
  Checkpoint network = LightNetwork();
  network.Find("layer1_mix.weight")->values[0] = 1e9f;
  EXPECT_THAT(
      MakeBundle(network, OptionsOf()),
      StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("layer1_mix.weight")));
}

TEST_F(LightBundleTest, RangesThatNoActivationHasAreRejected) {
  const std::string entry = "calibration/mixed.npy";
  const std::vector<int64_t> shape = {2, kLightChannels};
  std::vector<float> values = FromNpy(Entry(entry), shape).value();
  for (const float wrong : {-1.0f, 1e9f, kInfinity, kNan}) {
    values[5] = wrong;
    ExpectDamaged(
        With(entry, ToNpy(shape, values)),
        absl::StrCat(entry, " has the value ", wrong, "; expected 0 to 65504"));
  }
  ExpectDamaged(With(entry, ToNpy({2, 1}, std::vector<float>(2))), entry);
}

TEST_F(LightBundleTest, ItsModelHasOnlyOperatorsThatBrowsersRun) {
  ExpectOperators(Entry(kOnnxEntry),
                  {"Add", "Clip", "Concat", "Gather", "Gemm", "MatMul", "Mul",
                   "Pad", "ReduceMax", "ReduceSum", "Relu", "Reshape", "Split",
                   "Sub", "ReduceMean", "Transpose", "Unsqueeze"});
}

}  // namespace
}  // namespace tara::nn
