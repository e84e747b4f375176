#include "tara/nn/bundle/specification.h"

#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/core/action.h"
#include "tara/core/random_action.h"
#include "tara/core/rules.h"
#include "tara/core/symmetry.h"
#include "tara/nn/encode/features.h"

namespace tara::nn {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using Json = nlohmann::json;

BundleManifest SomeManifest() {
  return {.made_by = "a <test>",
          .shape = {.channels = 16, .blocks = 2},
          .parameters = 12345,
          .weights = WeightType::kFloat32,
          .has_owner = true,
          .variants = {{.variant = Variant::kStoneOfDestiny, .options = {}}},
          .provenance = {.run = "{{planes}}",
                         .checkpoint = "ckpt-000007",
                         .generation = 7,
                         .steps = 700,
                         .samples = 89600,
                         .games = {},
                         .seed = {},
                         .training_seconds = {},
                         .processor_seconds = {},
                         .config = "",
                         .scores = {}}};
}

Json Specification() {
  return Json::parse(SpecificationToJson(SomeManifest()));
}

TEST(SpecificationTest, ListsInputsActionsAndOutputsOneByOne) {
  const Json json = Specification();
  EXPECT_EQ(json["planes"].size(), size_t{kNumPlanes});
  EXPECT_EQ(json["planes"][0]["name"], "on_board");
  EXPECT_EQ(json["globals"].size(), size_t{kNumGlobals});
  EXPECT_EQ(json["hills"].size(), size_t{kNumHills});
  EXPECT_EQ(json["hills"][0], (Json{{"name", "B1"}, {"file", 1}, {"rank", 0}}));
  ASSERT_EQ(json["outputs"].size(), 4u);
  EXPECT_EQ(json["outputs"][3]["name"], "owner");
  ASSERT_EQ(json["actions"].size(), 570u);
  for (int i = 0; i < kNumActions; ++i) {
    const Json& action = json["actions"][i];
    const auto parsed = ParseAction(action["notation"].get<std::string>());
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(Index(*parsed), i);
    if (action["from"].is_number()) {
      EXPECT_EQ(json["hills"][action["from"].get<int>()]["name"],
                action["notation"].get<std::string>().substr(0, 2));
    }
  }
}

TEST(SpecificationTest, AFrontEndFindsTheLogitOfEachAction) {
  const Json json = Specification();
  for (const VariantInfo& info : kVariants) {
    Random random(DeriveSeed(5, 0, StreamPurpose::kTest));
    State state = InitialState(info.variant);
    for (int ply = 0; ply < 12 && !state.finished(); ++ply) {
      const Json& symmetries =
          json["to_first_seat"][std::string(info.id)][state.seat];
      ASSERT_FALSE(symmetries.empty());
      for (const Json& entry : symmetries) {
        const Symmetry symmetry = {
            .board = entry["board"].get<uint8_t>(),
            .seat_shift = entry["seat_shift"].get<uint8_t>()};
        const State seen = TransformState(symmetry, state);
        EXPECT_EQ(seen.seat, 0);
        // What is legal there is what the table of actions says.
        LegalMask expected;
        LegalActions(state).ForEach([&](Action action) {
          expected.set(json["action_transforms"][symmetry.board][Index(action)]
                           .get<size_t>());
        });
        EXPECT_EQ(LegalActions(seen).ToMask(), expected);
      }
      ApplyAction(RandomAction(state, random), state);
    }
  }
}

TEST(SpecificationTest, ThePageHasEachFeatureAndNeedsNoOtherFile) {
  const std::string page = SpecificationToPage(SomeManifest());
  for (const FeatureInfo& feature : kPlanes) {
    EXPECT_THAT(page, HasSubstr(absl::StrCat("<code>", feature.name)));
  }
  for (const FeatureInfo& feature : kGlobals) {
    EXPECT_THAT(page, HasSubstr(absl::StrCat("<code>", feature.name)));
  }
  EXPECT_THAT(page, HasSubstr("ckpt-000007"));
  EXPECT_THAT(page, Not(HasSubstr("src=")));
  EXPECT_THAT(page, Not(HasSubstr("http")));
}

// The folder of a run may have any name.
TEST(SpecificationTest, TextsAreUtf8WhateverTheNameOfTheRunIs) {
  BundleManifest manifest = SomeManifest();
  manifest.provenance.run = "run\xff";
  EXPECT_THAT(SpecificationToPage(manifest),
              HasSubstr("<td>run\xEF\xBF\xBD</td>"));
  EXPECT_EQ(Json::parse(ManifestToJson(manifest))["provenance"]["run"],
            "run\xEF\xBF\xBD");
}

TEST(SpecificationTest, TextsOfABundleAreNoMarkup) {
  const std::string page = SpecificationToPage(SomeManifest());
  EXPECT_THAT(page, HasSubstr("a &lt;test&gt;"));
  EXPECT_THAT(page, HasSubstr("<td>{{planes}}</td>"));
}

}  // namespace
}  // namespace tara::nn
