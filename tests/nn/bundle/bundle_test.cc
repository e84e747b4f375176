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
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/nn/bundle/golden.h"
#include "tara/nn/bundle/onnx_model.h"
#include "tara/nn/bundle/zip_archive.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/weights/fold_norms.h"
#include "tests/nn/bundle/test_bundle.h"
#include "tests/nn/nn_testing.h"
#include "tests/nn/torch_testing.h"

namespace tara::nn {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

const std::string& SmallBundle() {
  static const auto* const bytes =
      new std::string(MakeBundle(SmallNetwork(), SmallBundleOptions()).value());
  return *bytes;
}

class BundleTest : public BundleFileTest {
 protected:
  BundleTest() : BundleFileTest(SmallBundle()) {}

  absl::Status VerifyingErrorOf(const std::string& bytes) const {
    return VerifyBundle(Opened(bytes)).status();
  }
};

TEST_F(BundleTest, IsMadeOfItsArgumentsAlone) {
  EXPECT_EQ(MakeBundle(SmallNetwork(), SmallBundleOptions()).value(), bundle_);
}

TEST_F(BundleTest, TellsWhatItIs) {
  const Bundle bundle = Opened(bundle_);
  const BundleManifest& manifest = bundle.manifest();
  EXPECT_EQ(manifest.shape, (NetworkShape{.channels = 8, .blocks = 3}));
  EXPECT_TRUE(manifest.has_owner);
  ASSERT_EQ(manifest.variants.size(), 2u);
  EXPECT_EQ(manifest.variants[0].options.no_progress_limit, 30);
  EXPECT_EQ(manifest.provenance.steps, 12);
  EXPECT_THAT(bundle.Read(kLicenseEntry),
              IsOkAndHolds(HasSubstr("Apache License")));
}

TEST_F(BundleTest, TheReadyMadeOnesLoad) {
  for (const std::string path :
       {"models/tower.tara", "models/tara.tara", "models/fair_rules.tara"}) {
    EXPECT_THAT(Bundle::Open(path).value().ReadNetwork(), IsOk()) << path;
  }
}

TEST_F(BundleTest, PathsMeanBundlesByEndingOrContent) {
  Opened(bundle_);
  EXPECT_TRUE(IsBundlePath(path_));
  EXPECT_TRUE(IsBundlePath("/nowhere/x.tara"));
  EXPECT_FALSE(IsBundlePath("/nowhere/x.pt"));
  const std::string misnamed = folder_.At("checkpoint.tara");
  ASSERT_THAT(WriteCheckpoint(misnamed, SmallNetwork()), IsOk());
  EXPECT_FALSE(IsBundlePath(misnamed));
  const std::string renamed = folder_.At("file.zip");
  std::filesystem::copy(path_, renamed);
  EXPECT_TRUE(IsBundlePath(renamed));
}

// --- Networks that no bundle is made of --------------------------------------

TEST_F(BundleTest, IsNotMadeOfAMisshapenTensor) {
  Checkpoint network = SmallNetwork();
  NamedTensor& tensor = *network.Find("value_hidden.weight");
  tensor.shape[1] /= 2;
  tensor.values.resize(tensor.values.size() / 2);
  EXPECT_THAT(MakeBundle(network, SmallBundleOptions()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("value_hidden.weight")));
}

TEST_F(BundleTest, IsNotMadeOfANetworkWhoseAnswersAreNoNumbers) {
  for (const std::string name :
       {"policy_planes.bias", "value_output.bias", "owner_planes.bias"}) {
    Checkpoint network = SmallNetwork();
    network.Find(name)->values[0] = kNan;
    EXPECT_THAT(
        MakeBundle(network, SmallBundleOptions()),
        StatusIs(absl::StatusCode::kInvalidArgument,
                 AllOf(HasSubstr("is nan"), HasSubstr("finite number"))))
        << name;
  }
}

// --- Damaged bundles ---------------------------------------------------------

TEST_F(BundleTest, WhatIsNoBundleIsRefused) {
  EXPECT_THAT(Bundle::Open(path_), StatusIs(absl::StatusCode::kNotFound));
  ExpectDamaged("no zip", "");
  ExpectDamaged("", "");
  ExpectDamaged(MakeZip({{"a", "b"}}).value(), "manifest.json");
  for (const size_t part : {1, 2, 3}) {
    ExpectDamaged(bundle_.substr(0, bundle_.size() * part / 4), "");
  }
}

TEST_F(BundleTest, JsonThatIsTooLargeOrNestsDeeplyIsRefused) {
  // More than any bundle has, and not so much that it would be refused as any
  // other entry is.
  const std::string spaces(size_t{5} << 20, ' ');
  for (const std::string name : {kManifestEntry, kGoldenEntry}) {
    ExpectDamaged(With(name, Entry(name) + spaces),
                  absl::StrCat("entry ", name, " has "));
  }
  // The stack would not suffice to copy it.
  ExpectDamaged(With(kManifestEntry, "{\"\\\"[\": " + std::string(100000, '[') +
                                         Entry(kManifestEntry)),
                "manifest.json: JSON nests deeper than 32");
}

TEST_F(BundleTest, AManifestOfAnotherShapeIsRefused) {
  ExpectDamaged(WithText(kManifestEntry, "\"blocks\": 3", "\"blocks\": 4"),
                "block3");
  BundleManifest manifest = ManifestFromJson(Entry(kManifestEntry)).value();
  manifest.inputs.globals = kNumGlobals + 1;
  ExpectRefused(
      With(kManifestEntry, ManifestToJson(manifest)),
      absl::StatusCode::kFailedPrecondition,
      absl::StrCat("has ", kNumGlobals + 1,
                   " globals; this program has the first ", kNumGlobals));
}

TEST_F(BundleTest, WeightsThatAreNoNumbersOrAbsurdAreRefused) {
  for (const float wrong : {kNan, kInfinity, 1e30f, -1e30f}) {
    ExpectDamaged(
        WithWeight("block0.first.conv.weight", wrong),
        absl::StrCat("model.onnx: tensor block0.first.conv.weight holds ",
                     wrong, ", which float16 cannot represent"));
  }
}

TEST_F(BundleTest, GoldenPositionsAreOfWhatTheManifestLists) {
  // The network would play one that it has not learned, without a mark.
  BundleManifest manifest = ManifestFromJson(Entry(kManifestEntry)).value();
  manifest.variants.erase(manifest.variants.begin());
  ExpectDamaged(With(kManifestEntry, ManifestToJson(manifest)),
                "golden.json: position 0 is of stone_of_destiny, which the "
                "manifest does not list as learned");
  // Fewer positions; as many, of another variant. One is a line.
  const std::string json = Entry(kGoldenEntry);
  const size_t line = json.find('\n') + 1;
  const size_t second = json.find('\n', line) + 1;
  const size_t last = json.rfind("{\"variant\"");
  ExpectDamaged(With(kGoldenEntry, json.substr(0, line) + json.substr(second)),
                "golden.json has 19 positions of stone_of_destiny; expected "
                "20");
  ExpectDamaged(
      With(kGoldenEntry, json.substr(0, last) +
                             json.substr(line, second - 2 - line) + "\n]}\n"),
      "golden.json has 19 positions of sacred_hill_doubles_l1; "
      "expected 20");
}

TEST_F(BundleTest, GoldenTensorsThatAreDamagedAreRefused) {
  EXPECT_THAT(
      VerifyingErrorOf(With("golden/margins.npy", "short")),
      StatusIs(absl::StatusCode::kDataLoss, HasSubstr("golden/margins.npy")));
  for (const auto& info : NetworkOutputInfos(true)) {
    const std::string entry = GoldenTensorEntry(info.name);
    const std::vector<int64_t> shape = info.Shape(40);
    std::vector<float> values = FromNpy(Entry(entry), shape).value();
    for (const float wrong : {kNan, kInfinity}) {
      std::fill(values.begin(), values.end(), wrong);
      EXPECT_THAT(
          VerifyingErrorOf(With(entry, ToNpy(shape, values))),
          StatusIs(
              absl::StatusCode::kDataLoss,
              AllOf(HasSubstr(path_),
                    HasSubstr(absl::StrCat("golden ", info.name, " is ")))));
    }
  }
  // A number for an illegal action.
  const std::vector<int64_t> shape = {40, kNumActions};
  std::vector<float> policy =
      FromNpy(Entry("golden/policy.npy"), shape).value();
  *std::find_if(policy.begin(), policy.end(),
                [](float x) { return std::isnan(x); }) = 1;
  EXPECT_THAT(VerifyingErrorOf(With("golden/policy.npy", ToNpy(shape, policy))),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("expected NaN, as for every illegal action")));
}

// --- Verification ------------------------------------------------------------

TEST_F(BundleTest, AgreesWithItsGoldenPositions) {
  for (const WeightType weights :
       {WeightType::kFloat32, WeightType::kFloat16}) {
    BundleOptions options = SmallBundleOptions();
    options.weights = weights;
    ExpectDiffering(MakeBundle(SmallNetwork(), options).value(), {});
  }
  for (const std::string name : {kOnnxEntry, kOnnxFloat16Entry}) {
    ExpectValidOnnx(Entry(name));
  }
}

TEST_F(BundleTest, OtherWeightsDoNotAgree) {
  Checkpoint other = FoldNorms(SmallNetwork()).value();
  other.Find("value_output.bias")->values[0] += 0.01f;
  ExpectDiffering(
      With(kOnnxEntry, MakeOnnxModel(other, WeightType::kFloat32).value()),
      {"libtorch", "tara", "onnx_float16"});
  ExpectDiffering(With(kOnnxFloat16Entry,
                       MakeOnnxModel(other, WeightType::kFloat16).value()),
                  {"onnx_float16"});
}

TEST_F(BundleTest, InputsAreComparedBitForBit) {
  const std::string planes = Entry("golden/planes.npy");
  // The upper bytes of the last number, which is 0: it becomes 2, -0, NaN.
  for (const auto& [number, note] : {std::pair{"\x00\x40", ""},
                                     {"\x00\x80", "zeros have other signs"},
                                     {"\xc0\x7f", ""}}) {
    std::string other = planes;
    std::copy_n(number, 2, other.end() - 2);
    const FormCheck check = Checks(With("golden/planes.npy", other))[0];
    EXPECT_EQ(check.name, "inputs");
    EXPECT_EQ(check.result, CheckResult::kDiffers);
    EXPECT_EQ(check.note, note);
  }
}

TEST_F(BundleTest, WhatGoldenJsonExpectsIsCompared) {
  const std::string json = Entry(kGoldenEntry);
  for (const std::string name :
       {"\"win\":", "\"draw\":", "\"loss\":", "\"margin\":", "\"priors\":["}) {
    // The first number of that name gets another first digit behind the point.
    std::string other = json;
    const size_t digit = other.find('.', other.find(name)) + 1;
    other[digit] = other[digit] == '5' ? '6' : '5';
    ExpectDiffering(With(kGoldenEntry, other), {"expected"});
  }
  ExpectDiffering(WithText(kGoldenEntry, "\"priors\":[", "\"priors\":[0.1,"),
                  {"expected"});
}

}  // namespace
}  // namespace tara::nn
