// Bundles of other people, whole as archives, whose parts contradict each other
// or hold what is no number: by the ready-made ones, with a part replaced.

#include <onnx/onnx_pb.h>

#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/files.h"
#include "tara/nn/bundle/bundle.h"
#include "tara/nn/bundle/manifest.h"
#include "tara/nn/bundle/zip_archive.h"

namespace tara::nn {
namespace {

using ::testing::HasSubstr;

using Json = nlohmann::ordered_json;

constexpr char kBundle[] = "models/tower.tara";

std::string Entry(const std::string& name) {
  return Bundle::Open(kBundle)->Read(name).value();
}

// Returns the error of loading the bundle for playing with the contents of an
// entry changed; OK if there is none. What is not JSON is left out of it, so
// that the archive is made fast.
absl::Status LoadingWith(const std::string& name, const std::string& contents) {
  const Bundle bundle = Bundle::Open(kBundle).value();
  std::vector<ZipEntry> entries;
  for (const std::string& entry : bundle.archive().Names()) {
    const bool is_read = absl::EndsWith(entry, ".json");
    entries.push_back({entry, entry == name ? contents
                              : is_read     ? bundle.Read(entry).value()
                                            : "left out"});
  }
  const std::string path = ::testing::TempDir() + "/contradicting.tara";
  EXPECT_TRUE(WriteFileAtomically(path, MakeZip(entries).value()).ok());
  const absl::StatusOr<Bundle> opened = Bundle::Open(path);
  const absl::Status status =
      opened.ok() ? opened->ReadNetwork().status() : opened.status();
  EXPECT_TRUE(status.ok() || absl::StrContains(status.message(), path));
  return status;
}

void ExpectDamaged(const absl::Status& status, const std::string& message) {
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr(message));
}

TEST(ContradictingBundleTest, TheReadyMadeOnesDoNotContradictThemselves) {
  for (const std::string path :
       {kBundle, "models/tara.tara", "models/fair_rules.tara"}) {
    const absl::StatusOr<Bundle> bundle = Bundle::Open(path);
    ASSERT_TRUE(bundle.ok()) << bundle.status();
    EXPECT_TRUE(bundle->ReadNetwork().ok()) << bundle->ReadNetwork().status();
  }
}

TEST(ContradictingBundleTest, WeightsThatAreNoNumbersOrAbsurdAreRefused) {
  for (const float wrong :
       {std::numeric_limits<float>::quiet_NaN(),
        std::numeric_limits<float>::infinity(), 1e30f, -1e30f}) {
    onnx::ModelProto model;
    ASSERT_TRUE(model.ParseFromString(Entry(kOnnxEntry)));
    bool found = false;
    for (onnx::TensorProto& tensor :
         *model.mutable_graph()->mutable_initializer()) {
      if (!absl::StrContains(tensor.name(), "block0") || found) continue;
      found = true;
      std::memcpy(tensor.mutable_raw_data()->data(), &wrong, sizeof(wrong));
    }
    ASSERT_TRUE(found);
    const absl::Status status =
        LoadingWith(kOnnxEntry, model.SerializeAsString());
    ExpectDamaged(status, "model.onnx: tensor block0");
    ExpectDamaged(status, "which float16 cannot represent");
  }
}

TEST(ContradictingBundleTest, GoldenPositionsAreOfWhatTheManifestLists) {
  Json manifest = Json::parse(Entry(kManifestEntry));
  const Json variants = manifest["variants"];
  // The network would play one that it has not learned, without a mark.
  manifest["variants"] = Json::array({variants[4]});
  ExpectDamaged(LoadingWith(kManifestEntry, manifest.dump()),
                "golden.json: position 0 is of sacred_hill_l1, which the "
                "manifest does not list as learned");
  const Json golden = Json::parse(Entry(kGoldenEntry));
  Json fewer = golden;
  fewer["positions"].erase(fewer["positions"].size() - 1);
  ExpectDamaged(LoadingWith(kGoldenEntry, fewer.dump()),
                "golden.json has 19 positions of stone_of_destiny; expected "
                "20");
  // As many in all, of other variants.
  fewer["positions"].push_back(fewer["positions"][0]);
  ExpectDamaged(LoadingWith(kGoldenEntry, fewer.dump()),
                "golden.json has 21 positions of sacred_hill_l1; expected 20");
}

}  // namespace
}  // namespace tara::nn
