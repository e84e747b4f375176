// Bundles of light networks. What ONNX Runtime computes from their models is
// compared with their golden outputs in tests/js/bundle.test.mjs.

#include <onnx/onnx_pb.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/files.h"
#include "tara/base/random.h"
#include "tara/mcts/evaluator.h"
#include "tara/nn/bundle/bundle.h"
#include "tara/nn/bundle/onnx_model.h"
#include "tara/nn/bundle/zip_archive.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/light/light.h"
#include "tara/nn/light/light_integers.h"
#include "tara/nn/light/light_network.h"
#include "tests/nn/bundle/test_bundle.h"
#include "tests/nn/test_positions.h"

namespace tara::nn {
namespace {

using ::testing::HasSubstr;

// Returns a network whose tensors are all random; without_owner: as if it had
// not learned who owns hills.
Checkpoint LightNetwork(bool with_owner = true) {
  constexpr int kLayers = 2;
  Checkpoint network = NewLightCheckpoint({.channels = kLightChannels,
                                           .blocks = kLayers,
                                           .kind = NetworkKind::kLight},
                                          1);
  const LightTensors tensors(kLayers);
  Random random(DeriveSeed(2, 0, StreamPurpose::kTest));
  for (const LightTensor* const tensor : tensors.all()) {
    const bool of_owner = tensor->name.starts_with("owner_");
    if (of_owner && !with_owner) continue;
    for (NamedTensor& named : network.tensors) {
      if (named.name != tensor->name) continue;
      const double scale = tensor->scale > 0 ? tensor->scale : 0.1;
      for (float& value : named.values) {
        value = static_cast<float>(scale * random.Normal());
      }
    }
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

std::string Entry(const std::string& name) {
  return BundleEntry(LightBundle(), name);
}

std::string With(const std::string& name, const std::string& contents) {
  return BundleWith(LightBundle(), name, contents);
}

std::string WithManifest(const std::string& from, const std::string& to) {
  const std::string manifest = Entry(kManifestEntry);
  EXPECT_THAT(manifest, HasSubstr(from));
  return With(kManifestEntry, absl::StrReplaceAll(manifest, {{from, to}}));
}

class LightBundleTest : public ::testing::Test {
 protected:
  LightBundleTest()
      : path_(::testing::TempDir() + "/" +
              ::testing::UnitTest::GetInstance()->current_test_info()->name() +
              ".tara") {}
  ~LightBundleTest() override { std::filesystem::remove(path_); }

  void Write(const std::string& bytes) {
    EXPECT_TRUE(WriteFileAtomically(path_, bytes).ok());
  }

  // What players are told who load the bundle.
  absl::Status LoadingErrorOf(const std::string& bytes) {
    Write(bytes);
    const absl::Status status = LoadNetwork(path_).status();
    EXPECT_THAT(std::string(status.message()), HasSubstr(path_));
    return status;
  }

  std::vector<mcts::Evaluation> EvaluationsBy(const std::string& path) {
    const std::vector<State> states = RandomPositionsOfAllVariants(4, 7);
    std::vector<mcts::Evaluation> results(states.size());
    const auto evaluator = LoadNetworkEvaluator(path);
    EXPECT_TRUE(evaluator.ok()) << evaluator.status();
    EXPECT_TRUE((*evaluator)->Evaluate(states, absl::MakeSpan(results)).ok());
    return results;
  }

  const std::string path_;
};

TEST_F(LightBundleTest, AgreesWithItsGoldenPositions) {
  for (const WeightType weights :
       {WeightType::kFloat32, WeightType::kFloat16}) {
    Write(MakeBundle(LightNetwork(), OptionsOf(weights)).value());
    const auto checks = VerifyBundle(Bundle::Open(path_).value());
    ASSERT_TRUE(checks.ok()) << checks.status();
    std::vector<std::string> names;
    for (const FormCheck& check : *checks) {
      names.push_back(check.name);
      EXPECT_EQ(check.result, CheckResult::kAgrees)
          << check.name << " " << check.difference << " " << check.note;
    }
    EXPECT_EQ(names,
              (std::vector<std::string>{"inputs", "expected", "float32", "int8",
                                        "onnx", "onnx_float16"}));
  }
}

TEST_F(LightBundleTest, OtherWeightsDoNotAgree) {
  Checkpoint other = LightNetwork();
  for (NamedTensor& tensor : other.tensors) {
    if (tensor.name == "value_out.bias") tensor.values[0] += 2;
  }
  Write(With(kOnnxEntry, MakeOnnxModel(other, WeightType::kFloat32).value()));
  const auto checks = VerifyBundle(Bundle::Open(path_).value());
  ASSERT_TRUE(checks.ok()) << checks.status();
  for (const FormCheck& check : *checks) {
    const bool differs = check.name == "float32" || check.name == "int8" ||
                         check.name == "onnx_float16";
    EXPECT_EQ(check.result == CheckResult::kDiffers, differs) << check.name;
  }
}

TEST_F(LightBundleTest, PlaysAsItsCheckpointDoesBitForBit) {
  const Checkpoint without = LightNetwork();
  Checkpoint with = without;
  const LightTensors tensors(with.shape.blocks);
  AlignedFloats parameters(tensors.size());
  ASSERT_TRUE(tensors.Read(with, "", parameters.data()).ok());
  WriteLightRanges(MeasureLightRanges(tensors, parameters.data(),
                                      RandomPositionsOfAllVariants(3, 9)),
                   with);
  const std::string checkpoint = path_ + ".pt";
  for (const Checkpoint& network : {without, with}) {
    ASSERT_TRUE(WriteCheckpoint(checkpoint, network).ok());
    Write(MakeBundle(network, OptionsOf()).value());
    const auto expected = EvaluationsBy(checkpoint);
    const auto found = EvaluationsBy(path_);
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(found[i].priors, expected[i].priors);
      EXPECT_EQ(found[i].win, expected[i].win);
      EXPECT_EQ(found[i].margins, expected[i].margins);
    }
  }
  std::filesystem::remove(checkpoint);
}

TEST_F(LightBundleTest, HasItsKindAndAFormatOfItsOwn) {
  Write(LightBundle());
  const Bundle bundle = Bundle::Open(path_).value();
  EXPECT_EQ(bundle.manifest().shape, LightNetwork().shape);
  EXPECT_TRUE(bundle.manifest().has_owner);
  // Programs that only know towers read versions 1 and 2.
  EXPECT_THAT(bundle.Read(kManifestEntry).value(),
              HasSubstr("\"format_version\": 3"));
}

TEST_F(LightBundleTest, WithoutOwnersItPlaysAndHasNoSuchOutput) {
  Write(MakeBundle(LightNetwork(/*with_owner=*/false), OptionsOf()).value());
  EXPECT_FALSE(Bundle::Open(path_).value().manifest().has_owner);
  EXPECT_FALSE(EvaluationsBy(path_).empty());
}

TEST_F(LightBundleTest, LearningResumesFromOneMadeForIt) {
  BundleOptions options = OptionsOf();
  options.for_learning = true;
  Write(MakeBundle(LightNetwork(), options).value());
  const auto read = Bundle::Open(path_).value().ReadCheckpointToLearnOn();
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->shape, LightNetwork().shape);
  EXPECT_TRUE(MakeLightTrainer("it", *read, {}).ok());
}

TEST_F(LightBundleTest, AMissingPartIsNamed) {
  for (const std::string& name :
       ZipReader::Open(LightBundle()).value().Names()) {
    const absl::Status status = LoadingErrorOf(With(name, ""));
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(status.message()), HasSubstr(name));
  }
}

TEST_F(LightBundleTest, AnotherKindOrFormatIsRejected) {
  const std::pair<std::string, std::string> kKind = {"\"kind\": \"light\"",
                                                     "\"kind\": \"dark\""};
  const absl::Status kind =
      LoadingErrorOf(WithManifest(kKind.first, kKind.second));
  EXPECT_EQ(kind.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(kind.message()),
              HasSubstr("a network of kind dark; this program has the kinds "
                        "tower and light"));
  const absl::Status format = LoadingErrorOf(
      WithManifest("\"format_version\": 3", "\"format_version\": 4"));
  EXPECT_EQ(format.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(
      std::string(format.message()),
      HasSubstr("format version 4; this program reads versions 1 to 3"));
  // Its weights are not those of a tower.
  const absl::Status tower =
      LoadingErrorOf(WithManifest(kKind.first, "\"kind\": \"tower\""));
  EXPECT_EQ(tower.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(tower.message()), HasSubstr("missing tensor"));
}

TEST_F(LightBundleTest, AnImpossibleShapeIsRejected) {
  for (const auto& [from, to] :
       {std::pair("\"channels\": 64", "\"channels\": 32"),
        {"\"blocks\": 2", "\"blocks\": 9"}}) {
    const absl::Status status = LoadingErrorOf(WithManifest(from, to));
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("expected 64 channels and 1 to 8 layers"));
  }
  EXPECT_THAT(
      std::string(LoadingErrorOf(WithManifest("\"blocks\": 2", "\"blocks\": 1"))
                      .message()),
      HasSubstr("calibration/hills.npy"));
}

// Returns the bundle with a tensor of model.onnx changed.
std::string WithTensor(const std::string& name,
                       const std::function<void(onnx::TensorProto&)>& change) {
  onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(Entry(kOnnxEntry)));
  bool found = false;
  for (onnx::TensorProto& tensor :
       *model.mutable_graph()->mutable_initializer()) {
    if (tensor.name() != name) continue;
    change(tensor);
    found = true;
  }
  EXPECT_TRUE(found) << name;
  return With(kOnnxEntry, model.SerializeAsString());
}

TEST_F(LightBundleTest, ATableOfAnotherSizeIsRejected) {
  // Rows of the pattern's owners, off the board left out.
  const absl::Status status =
      LoadingErrorOf(WithTensor("near_hidden1.weight", [](auto& tensor) {
        tensor.set_dims(0, kPatternInputs - kPatternHills);
        tensor.mutable_raw_data()->resize(
            sizeof(float) * (kPatternInputs - kPatternHills) * kLightChannels);
      }));
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("tensor near_hidden1.weight has shape [27, 64]; "
                        "expected [36, 64]"));
}

TEST_F(LightBundleTest, WeightsThatOverflowAreRejected) {
  for (const float value : {1e9f, -1e9f, std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()}) {
    const absl::Status status =
        LoadingErrorOf(WithTensor("layer1_mix.weight", [&](auto& tensor) {
          std::memcpy(tensor.mutable_raw_data()->data(), &value, sizeof(value));
        }));
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(status.message()), HasSubstr("layer1_mix.weight"));
  }
  Checkpoint network = LightNetwork();
  for (NamedTensor& tensor : network.tensors) {
    if (tensor.name == "layer1_mix.weight") tensor.values[0] = 1e9f;
  }
  const absl::Status status = MakeBundle(network, OptionsOf()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(status.message()), HasSubstr("layer1_mix.weight"));
}

TEST_F(LightBundleTest, RangesThatNoActivationHasAreRejected) {
  const std::string entry = "calibration/mixed.npy";
  const std::vector<int64_t> shape = {2, kLightChannels};
  std::vector<float> values = FromNpy(Entry(entry), shape).value();
  for (const float wrong : {-1.0f, 1e9f, std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()}) {
    values[5] = wrong;
    const absl::Status status =
        LoadingErrorOf(With(entry, ToNpy(shape, values)));
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(absl::StrCat(entry, " has the value ", wrong,
                                       "; expected 0 to 65504")));
  }
  const absl::Status status =
      LoadingErrorOf(With(entry, ToNpy({2, 1}, std::vector<float>(2))));
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr(entry));
}

TEST_F(LightBundleTest, ItsModelHasOnlyOperatorsThatBrowsersRun) {
  const std::set<std::string> allowed = {
      "Add",   "Clip", "Concat",     "Gather",    "Gemm",     "MatMul",
      "Mul",   "Pad",  "ReduceMax",  "ReduceSum", "Relu",     "Reshape",
      "Split", "Sub",  "ReduceMean", "Transpose", "Unsqueeze"};
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(Entry(kOnnxEntry)));
  for (const onnx::NodeProto& node : model.graph().node()) {
    EXPECT_TRUE(allowed.count(node.op_type())) << node.op_type();
  }
}

}  // namespace
}  // namespace tara::nn
