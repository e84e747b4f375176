// Bundles from end to end: made of a checkpoint, read, played with, verified.

#include "tara/nn/bundle/bundle.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
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
#include "tara/mcts/evaluator.h"
#include "tara/nn/bundle/golden.h"
#include "tara/nn/bundle/onnx_model.h"
#include "tara/nn/bundle/zip_archive.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/weights/fold_norms.h"
#include "tests/nn/bundle/test_bundle.h"
#include "tests/nn/bundle/test_network.h"
#include "tests/nn/test_positions.h"

namespace tara::nn {
namespace {

using ::testing::AllOf;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

const std::string& SmallBundle() {
  static const auto* const bytes =
      new std::string(MakeBundle(SmallNetwork(), SmallBundleOptions()).value());
  return *bytes;
}

std::string With(const std::string& name, const std::string& contents) {
  return BundleWith(SmallBundle(), name, contents);
}

std::string Entry(const std::string& name) {
  return BundleEntry(SmallBundle(), name);
}

class BundleTest : public ::testing::Test {
 protected:
  BundleTest()
      : path_(::testing::TempDir() + "/" +
              ::testing::UnitTest::GetInstance()->current_test_info()->name() +
              ".tara") {}
  ~BundleTest() override { std::filesystem::remove(path_); }

  void Write(const std::string& bytes) {
    EXPECT_TRUE(WriteFileAtomically(path_, bytes).ok());
  }

  absl::Status ErrorOf(const std::string& bytes) {
    Write(bytes);
    const absl::Status status = Bundle::Open(path_).status();
    EXPECT_THAT(std::string(status.message()), HasSubstr(path_));
    return status;
  }

  absl::StatusOr<std::vector<FormCheck>> Verified(const std::string& bytes) {
    Write(bytes);
    return VerifyBundle(Bundle::Open(path_).value());
  }

  std::vector<FormCheck> Checks(const std::string& bytes) {
    auto checks = Verified(bytes);
    EXPECT_TRUE(checks.ok()) << checks.status();
    return checks.value_or(std::vector<FormCheck>());
  }

  // Expects that exactly these forms differ.
  void ExpectDiffering(const std::string& bytes,
                       const std::vector<std::string>& names) {
    std::vector<std::string> differing;
    for (const FormCheck& check : Checks(bytes)) {
      if (check.result != CheckResult::kAgrees) differing.push_back(check.name);
    }
    EXPECT_EQ(differing, names);
  }

  const std::string path_;
};

TEST_F(BundleTest, IsMadeOfItsArgumentsAlone) {
  EXPECT_EQ(MakeBundle(SmallNetwork(), SmallBundleOptions()).value(),
            SmallBundle());
}

TEST_F(BundleTest, TellsWhatItIs) {
  Write(SmallBundle());
  const auto bundle = Bundle::Open(path_);
  ASSERT_TRUE(bundle.ok()) << bundle.status();
  const BundleManifest& manifest = bundle->manifest();
  EXPECT_EQ(manifest.shape, (NetworkShape{.channels = 8, .blocks = 3}));
  EXPECT_TRUE(manifest.has_owner);
  ASSERT_EQ(manifest.variants.size(), 2u);
  EXPECT_EQ(manifest.variants[0].options.no_progress_limit, 30);
  EXPECT_EQ(manifest.provenance.steps, 12);
  EXPECT_THAT(bundle->Read(kLicenseEntry).value(), HasSubstr("Apache License"));
}

TEST_F(BundleTest, PlaysAsItsCheckpointDoes) {
  Write(SmallBundle());
  const std::string checkpoint = path_ + ".pt";
  ASSERT_TRUE(WriteCheckpoint(checkpoint, SmallNetwork()).ok());
  const std::vector<State> states = RandomPositionsOfAllVariants(3, 7);
  std::vector<mcts::Evaluation> of_bundle(states.size());
  std::vector<mcts::Evaluation> of_checkpoint(states.size());
  for (const InferenceBackend backend :
       {InferenceBackend::kTorch, InferenceBackend::kTara}) {
    const InferenceOptions options = {.backend = backend,
                                      .precision = Precision::kFloat32};
    for (const auto& [path, results] :
         {std::pair{path_, &of_bundle},
          std::pair{checkpoint, &of_checkpoint}}) {
      const auto evaluator = LoadNetworkEvaluator(path, options);
      ASSERT_TRUE(evaluator.ok()) << evaluator.status();
      ASSERT_TRUE(
          (*evaluator)->Evaluate(states, absl::MakeSpan(*results)).ok());
    }
    for (size_t i = 0; i < states.size(); ++i) {
      EXPECT_THAT(of_bundle[i].priors,
                  Pointwise(FloatNear(1e-6f), of_checkpoint[i].priors));
      EXPECT_NEAR(of_bundle[i].win, of_checkpoint[i].win, 1e-6);
      EXPECT_NEAR(of_bundle[i].margin, of_checkpoint[i].margin, 1e-4);
    }
  }
  std::filesystem::remove(checkpoint);
}

TEST_F(BundleTest, AgreesWithItsGoldenPositions) {
  for (const WeightType weights :
       {WeightType::kFloat32, WeightType::kFloat16}) {
    BundleOptions options = SmallBundleOptions();
    options.weights = weights;
    ExpectDiffering(MakeBundle(SmallNetwork(), options).value(), {});
  }
}

TEST_F(BundleTest, OtherWeightsDoNotAgree) {
  Checkpoint other = FoldNorms(SmallNetwork()).value();
  for (NamedTensor& tensor : other.tensors) {
    if (tensor.name == "value_output.bias") tensor.values[0] += 0.01f;
  }
  const std::string model = MakeOnnxModel(other, WeightType::kFloat32).value();
  const std::string half = MakeOnnxModel(other, WeightType::kFloat16).value();
  ExpectDiffering(With(kOnnxEntry, model),
                  {"libtorch", "tara", "onnx_float16"});
  ExpectDiffering(With(kOnnxFloat16Entry, half), {"onnx_float16"});
}

TEST_F(BundleTest, OtherInputsAreFound) {
  std::string planes = Entry("golden/planes.npy");
  // The upper bytes of the last number: 0 becomes 2.
  planes[planes.size() - 1] = 0x40;
  const auto checks = Checks(With("golden/planes.npy", planes));
  ASSERT_EQ(checks[0].name, "inputs");
  EXPECT_EQ(checks[0].result, CheckResult::kDiffers);
}

TEST_F(BundleTest, IsNotMadeOfAMisshapenTensor) {
  Checkpoint network = SmallNetwork();
  for (NamedTensor& tensor : network.tensors) {
    if (tensor.name != "value_hidden.weight") continue;
    tensor.shape[1] /= 2;
    tensor.values.resize(tensor.values.size() / 2);
  }
  const absl::Status status =
      MakeBundle(network, SmallBundleOptions()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("value_hidden.weight"));
}

TEST_F(BundleTest, WhatIsNoBundleIsRefused) {
  EXPECT_EQ(Bundle::Open(path_).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ErrorOf("no zip").code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(ErrorOf("").code(), absl::StatusCode::kDataLoss);
  const absl::Status other = ErrorOf(MakeZip({{"a", "b"}}).value());
  EXPECT_EQ(other.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(other.message()), HasSubstr("manifest.json"));
}

TEST_F(BundleTest, ATruncatedOneIsRefused) {
  for (const size_t part : {1, 2, 3}) {
    EXPECT_EQ(ErrorOf(SmallBundle().substr(0, SmallBundle().size() * part / 4))
                  .code(),
              absl::StatusCode::kDataLoss);
  }
}

TEST_F(BundleTest, JsonThatIsTooLargeIsRefused) {
  // More than any bundle has, and not so much that it would be refused as any
  // other entry is.
  const std::string spaces(size_t{5} << 20, ' ');
  const absl::Status manifest =
      ErrorOf(With(kManifestEntry, Entry(kManifestEntry) + spaces));
  EXPECT_EQ(manifest.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(manifest.message()),
              AllOf(HasSubstr("entry manifest.json has "),
                    HasSubstr("expected at most 4194304")));
  Write(With(kGoldenEntry, Entry(kGoldenEntry) + spaces));
  const absl::Status golden =
      Bundle::Open(path_).value().Read(kGoldenEntry).status();
  EXPECT_EQ(golden.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(golden.message()),
              HasSubstr("entry golden.json has "));
}

// The stack would not suffice to copy it.
TEST_F(BundleTest, JsonThatNestsDeeplyIsRefused) {
  const std::string deep(100000, '[');
  const absl::Status manifest = ErrorOf(
      With(kManifestEntry, "{\"\\\"[\": " + deep + Entry(kManifestEntry)));
  EXPECT_EQ(manifest.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(manifest.message()),
              HasSubstr("manifest.json: JSON nests deeper than 32"));
}

TEST_F(BundleTest, AMissingPartIsNamed) {
  for (const std::string& name :
       ZipReader::Open(SmallBundle()).value().Names()) {
    const absl::Status status = ErrorOf(With(name, ""));
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(status.message()), HasSubstr(name));
  }
}

TEST_F(BundleTest, AnotherFeatureOrActionVersionIsRefusedWithWhatDiffers) {
  const std::string manifest = Entry(kManifestEntry);
  const std::vector<std::pair<std::string, int>> versions = {
      {"features", kFeatureVersion}, {"policy", kPolicyVersion}};
  for (const auto& [name, version] : versions) {
    const auto field = [&](int number) {
      return absl::StrCat("\"", name, "\": ", number);
    };
    Write(With(
        kManifestEntry,
        absl::StrReplaceAll(manifest, {{field(version), field(version + 1)}})));
    const absl::Status status = LoadNetwork(path_).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(
        std::string(status.message()),
        AllOf(HasSubstr(path_),
              HasSubstr(absl::StrCat(name, " version ", version + 1)),
              HasSubstr(absl::StrCat("this program has version ", version))));
  }
}

TEST_F(BundleTest, WeightsOfAnotherShapeAreRefused) {
  Write(With(kManifestEntry,
             absl::StrReplaceAll(Entry(kManifestEntry),
                                 {{"\"blocks\": 3", "\"blocks\": 4"}})));
  const absl::Status status = LoadNetwork(path_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("Bundle " + path_), HasSubstr("block3")));
}

// Returns what MakeBundle would have made of the network before the last global
// was appended. `without_weight`: the network with no weight for it.
std::string BundleOfFewerGlobals(const Checkpoint& without_weight) {
  Checkpoint folded = FoldNorms(without_weight).value();
  for (NamedTensor& tensor : folded.tensors) {
    if (tensor.name != "stem_globals.weight") continue;
    std::vector<float> values;
    for (size_t i = 0; i < tensor.values.size(); ++i) {
      if (i % kNumGlobals < kNumGlobals - 1) values.push_back(tensor.values[i]);
    }
    tensor.shape[1] = kNumGlobals - 1;
    tensor.values = values;
  }
  const NetworkInputs inputs =
      EncodeGoldenPositions(MakeGoldenPositions(SmallBundleOptions().variants),
                            {.globals = kNumGlobals - 1});
  const ZipReader reader =
      ZipReader::Open(MakeBundle(without_weight, SmallBundleOptions()).value())
          .value();
  std::vector<ZipEntry> entries;
  for (const std::string& name : reader.Names()) {
    std::string contents = reader.Read(name).value();
    if (name == kManifestEntry) {
      BundleManifest manifest = ManifestFromJson(contents).value();
      manifest.inputs.globals = kNumGlobals - 1;
      contents = ManifestToJson(manifest);
    } else if (name == kOnnxEntry) {
      contents = MakeOnnxModel(folded, WeightType::kFloat32).value();
    } else if (name == kOnnxFloat16Entry) {
      contents = MakeOnnxModel(folded, WeightType::kFloat16).value();
    } else if (name == GoldenTensorEntry("globals")) {
      contents = ToNpy({inputs.size, kNumGlobals - 1}, inputs.globals);
    }
    entries.push_back({name, contents});
  }
  return MakeZip(entries).value();
}

TEST_F(BundleTest, OneOfFewerInputsVerifiesAndPlaysAsItDid) {
  Checkpoint network = SmallNetwork();
  for (NamedTensor& tensor : network.tensors) {
    if (tensor.name != "stem_globals.weight") continue;
    for (size_t i = kNumGlobals - 1; i < tensor.values.size();
         i += kNumGlobals) {
      tensor.values[i] = 0;
    }
  }
  const std::string old = BundleOfFewerGlobals(network);
  ExpectDiffering(old, {});
  EXPECT_EQ(Bundle::Open(path_).value().manifest().inputs.globals,
            kNumGlobals - 1);
  const std::vector<State> states = RandomPositionsOfAllVariants(3, 7);
  std::vector<mcts::Evaluation> results(states.size()), expected(states.size());
  const std::vector<std::pair<std::string, std::vector<mcts::Evaluation>*>>
      bundles = {
          {old, &results},
          {MakeBundle(network, SmallBundleOptions()).value(), &expected}};
  for (const auto& [bytes, evaluations] : bundles) {
    Write(bytes);
    const auto evaluator = LoadNetworkEvaluator(
        path_,
        {.backend = InferenceBackend::kTara, .precision = Precision::kFloat32});
    ASSERT_TRUE(evaluator.ok()) << evaluator.status();
    ASSERT_TRUE(
        (*evaluator)->Evaluate(states, absl::MakeSpan(*evaluations)).ok());
  }
  for (size_t i = 0; i < states.size(); ++i) {
    EXPECT_EQ(results[i].priors, expected[i].priors);
    EXPECT_EQ(results[i].margins, expected[i].margins);
  }
}

TEST_F(BundleTest, OneOfMoreInputsIsRefused) {
  BundleManifest manifest = ManifestFromJson(Entry(kManifestEntry)).value();
  manifest.inputs.globals = kNumGlobals + 1;
  const absl::Status status =
      ErrorOf(With(kManifestEntry, ManifestToJson(manifest)));
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(absl::StrCat("has ", kNumGlobals + 1,
                                     " globals; this program has the first ",
                                     kNumGlobals)));
}

TEST_F(BundleTest, ADamagedGoldenTensorIsNamed) {
  const absl::Status status =
      Verified(With("golden/margins.npy", "short")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("golden/margins.npy"));
}

TEST_F(BundleTest, GoldenOutputsThatAreNoNumbersAreRefused) {
  for (const auto& info : NetworkOutputInfos(true)) {
    const std::string entry = GoldenTensorEntry(info.name);
    const std::string file = Entry(entry);
    const std::vector<int64_t> shape = info.Shape(40);
    std::vector<float> values = FromNpy(file, shape).value();
    for (const float wrong : {std::numeric_limits<float>::quiet_NaN(),
                              std::numeric_limits<float>::infinity()}) {
      const absl::Status status =
          Verified(With(entry,
                        ToNpy(shape, std::vector<float>(values.size(), wrong))))
              .status();
      EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << info.name;
      EXPECT_THAT(std::string(status.message()),
                  AllOf(HasSubstr(path_),
                        HasSubstr(absl::StrCat("golden ", info.name, " is "))));
    }
  }
  // A number for an illegal action.
  const std::vector<int64_t> shape = {40, kNumActions};
  std::vector<float> policy =
      FromNpy(Entry("golden/policy.npy"), shape).value();
  const auto hidden = std::find_if(policy.begin(), policy.end(),
                                   [](float x) { return std::isnan(x); });
  ASSERT_NE(hidden, policy.end());
  *hidden = 1;
  EXPECT_THAT(
      std::string(Verified(With("golden/policy.npy", ToNpy(shape, policy)))
                      .status()
                      .message()),
      HasSubstr("expected NaN, as for every illegal action"));
}

TEST_F(BundleTest, WhatGoldenJsonExpectsIsCompared) {
  const std::string json = Entry(kGoldenEntry);
  for (const std::string name : {"win", "draw", "loss", "margin"}) {
    // The first number of that name gets another first digit behind the point.
    std::string other = json;
    const size_t number = other.find(absl::StrCat("\"", name, "\":"));
    const size_t digit = other.find('.', number) + 1;
    other[digit] = other[digit] == '5' ? '6' : '5';
    ExpectDiffering(With(kGoldenEntry, other), {"expected"});
  }
  std::string other = json;
  const size_t digit = other.find("\"priors\":[0.") + 13;
  other[digit] = other[digit] == '5' ? '6' : '5';
  EXPECT_EQ(Checks(With(kGoldenEntry, other))[1].result, CheckResult::kDiffers);
  other = absl::StrReplaceAll(json, {{"\"priors\":[", "\"priors\":[0.1,"}});
  EXPECT_EQ(Checks(With(kGoldenEntry, other))[1].result, CheckResult::kDiffers);
  // Fewer positions than the manifest tells of.
  const size_t line = json.find('\n') + 1;
  other = json.substr(0, line) + json.substr(json.find('\n', line) + 1);
  EXPECT_THAT(
      std::string(Verified(With(kGoldenEntry, other)).status().message()),
      HasSubstr("golden.json has 19 positions of stone_of_destiny; expected "
                "20"));
}

TEST_F(BundleTest, InputsAreComparedBitForBit) {
  const std::string planes = Entry("golden/planes.npy");
  std::string other = planes;
  // The sign of the last number, which is 0.
  other[other.size() - 1] = static_cast<char>(0x80);
  const auto checks = Checks(With("golden/planes.npy", other));
  EXPECT_EQ(checks[0].result, CheckResult::kDiffers);
  EXPECT_EQ(checks[0].note, "zeros have other signs");
  other = planes;
  other[other.size() - 1] = static_cast<char>(0x7f);
  other[other.size() - 2] = static_cast<char>(0xc0);  // NaN
  EXPECT_EQ(Checks(With("golden/planes.npy", other))[0].result,
            CheckResult::kDiffers);
}

TEST_F(BundleTest, IsNotMadeOfANetworkWhoseAnswersAreNoNumbers) {
  for (const std::string name :
       {"policy_planes.bias", "value_output.bias", "owner_planes.bias"}) {
    Checkpoint network = SmallNetwork();
    bool found = false;
    for (NamedTensor& tensor : network.tensors) {
      if (tensor.name != name) continue;
      found = true;
      tensor.values[0] = std::numeric_limits<float>::quiet_NaN();
    }
    ASSERT_TRUE(found) << name;
    const absl::Status status =
        MakeBundle(network, SmallBundleOptions()).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << name;
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr("is nan"), HasSubstr("finite number")));
  }
}

TEST_F(BundleTest, PathsMeanBundlesByEndingOrContent) {
  Write(SmallBundle());
  EXPECT_TRUE(IsBundlePath(path_));
  EXPECT_TRUE(IsBundlePath("/nowhere/x.tara"));
  EXPECT_FALSE(IsBundlePath("/nowhere/x.pt"));
  const std::string misnamed = path_ + ".checkpoint.tara";
  ASSERT_TRUE(WriteCheckpoint(misnamed, SmallNetwork()).ok());
  EXPECT_FALSE(IsBundlePath(misnamed));
  std::filesystem::remove(misnamed);
  const std::string renamed = path_ + ".zip";
  std::filesystem::copy(path_, renamed);
  EXPECT_TRUE(IsBundlePath(renamed));
  std::filesystem::remove(renamed);
}

}  // namespace
}  // namespace tara::nn
