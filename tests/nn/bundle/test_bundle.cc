#include "tests/nn/bundle/test_bundle.h"

#include <onnx/checker.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <cstring>

#include "absl/strings/str_replace.h"
#include "tara/base/files.h"
#include "tara/nn/bundle/zip_archive.h"
#include "tara/nn/inference/network_evaluator.h"

namespace tara::nn {

using ::testing::AllOf;
using ::testing::HasSubstr;

BundleOptions SmallBundleOptions() {
  return {
      .made_by = "a test",
      .weights = WeightType::kFloat32,
      .variants = {{.variant = Variant::kStoneOfDestiny,
                    .options = {.no_progress_limit = 30}},
                   {.variant = Variant::kSacredHillDoublesL1, .options = {}}},
      .provenance = {.run = "small",
                     .checkpoint = "ckpt-000003",
                     .generation = 3,
                     .steps = 12,
                     .samples = 345,
                     .games = 67,
                     .seed = 89,
                     .training_seconds = 1.5,
                     .processor_seconds = 2.5,
                     .config = "seed: 89\n",
                     .scores = {{.variant = "stone_of_destiny",
                                 .opponent = "greedy",
                                 .generation = 2,
                                 .games = 40,
                                 .score = 0.5,
                                 .low = 0.25,
                                 .high = 0.75}}}};
}

void ExpectValidOnnx(const std::string& model) {
  onnx::ModelProto parsed;
  ASSERT_TRUE(parsed.ParseFromString(model));
  EXPECT_NO_THROW({
    onnx::checker::check_model(parsed);
    onnx::shape_inference::InferShapes(
        parsed, onnx::OpSchemaRegistry::Instance(),
        onnx::ShapeInferenceOptions(/*check_type_val=*/true,
                                    /*strict_mode_val=*/1));
    onnx::checker::check_model(parsed);
  });
}

void ExpectOperators(const std::string& model,
                     const std::set<std::string>& allowed) {
  onnx::ModelProto parsed;
  ASSERT_TRUE(parsed.ParseFromString(model));
  for (const onnx::NodeProto& node : parsed.graph().node()) {
    EXPECT_TRUE(allowed.contains(node.op_type())) << node.op_type();
  }
}

std::string BundleFileTest::Entry(const std::string& name) const {
  return ZipReader::Open(bundle_).value().Read(name).value();
}

std::string BundleFileTest::With(const std::string& name,
                                 const std::string& contents) const {
  const ZipReader reader = ZipReader::Open(bundle_).value();
  std::vector<ZipEntry> entries;
  for (const std::string& entry : reader.Names()) {
    if (entry == name && contents.empty()) continue;
    entries.push_back(
        {entry, entry == name ? contents : reader.Read(entry).value()});
  }
  return MakeZip(entries).value();
}

std::string BundleFileTest::WithText(const std::string& name,
                                     const std::string& from,
                                     const std::string& to) const {
  const std::string text = Entry(name);
  EXPECT_THAT(text, HasSubstr(from));
  return With(name, absl::StrReplaceAll(text, {{from, to}}));
}

std::string BundleFileTest::WithWeight(const std::string& tensor,
                                       float weight) const {
  onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(Entry(kOnnxEntry)));
  bool found = false;
  for (onnx::TensorProto& each :
       *model.mutable_graph()->mutable_initializer()) {
    if (each.name() != tensor) continue;
    std::memcpy(each.mutable_raw_data()->data(), &weight, sizeof(weight));
    found = true;
  }
  EXPECT_TRUE(found) << tensor;
  return With(kOnnxEntry, model.SerializeAsString());
}

Bundle BundleFileTest::Opened(const std::string& bytes) const {
  EXPECT_THAT(WriteFileAtomically(path_, bytes), IsOk());
  return Bundle::Open(path_).value();
}

void BundleFileTest::ExpectRefused(const std::string& bytes,
                                   absl::StatusCode code,
                                   const std::string& message) const {
  EXPECT_THAT(WriteFileAtomically(path_, bytes), IsOk());
  EXPECT_THAT(
      LoadNetwork(path_),
      StatusIs(code, AllOf(HasSubstr("Bundle " + path_), HasSubstr(message))));
}

std::vector<FormCheck> BundleFileTest::Checks(const std::string& bytes) const {
  const auto checks = VerifyBundle(Opened(bytes));
  EXPECT_THAT(checks, IsOk());
  return checks.value_or(std::vector<FormCheck>());
}

void BundleFileTest::ExpectDiffering(
    const std::string& bytes, const std::vector<std::string>& names) const {
  std::vector<std::string> differing;
  for (const FormCheck& check : Checks(bytes)) {
    if (check.result != CheckResult::kAgrees) differing.push_back(check.name);
  }
  EXPECT_EQ(differing, names);
}

}  // namespace tara::nn
