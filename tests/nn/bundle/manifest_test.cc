#include "tara/nn/bundle/manifest.h"

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tests/status_matchers.h"

namespace tara::nn {
namespace {

using ::testing::HasSubstr;

BundleManifest SomeManifest() {
  return {.made_by = "a test",
          .shape = {.channels = 16, .blocks = 2},
          .parameters = 12345,
          .weights = WeightType::kFloat16,
          .has_owner = true,
          .variants = {{.variant = Variant::kHighKingsL2,
                        .options = {.no_progress_limit = 25,
                                    .placement_captures_kings = true}}},
          .provenance = {.run = "kings",
                         .checkpoint = "ckpt-000007",
                         .begun_with = "first.pt",
                         .begun_with_crc32c = "0a1b2c3d",
                         .generation = 7,
                         .steps = 700,
                         .samples = 89600,
                         .games = 1400,
                         .seed = 18446744073709551615u,
                         .training_seconds = 62.5,
                         .processor_seconds = 99.5,
                         .config = "variant: \"high_kings_l2\"\n",
                         .scores = {{.variant = "high_kings_l2",
                                     .opponent = "greedy",
                                     .generation = 6,
                                     .games = 40,
                                     .score = 0.75,
                                     .low = 0.5,
                                     .high = 0.875}}}};
}

// Expects an error of the manifest in which one text is replaced by another.
void ExpectError(const std::string& from, const std::string& to,
                 absl::StatusCode code, const std::string& message = "") {
  const std::string text = ManifestToJson(SomeManifest());
  const std::string changed = absl::StrReplaceAll(text, {{from, to}});
  EXPECT_NE(changed, text) << from;
  EXPECT_THAT(ManifestFromJson(changed), StatusIs(code, HasSubstr(message)))
      << to;
}

TEST(ManifestTest, ComesBackFromItsText) {
  const BundleManifest manifest = SomeManifest();
  const auto read = ManifestFromJson(ManifestToJson(manifest));
  ASSERT_TRUE(read.ok()) << read.status();
  // Its text holds all of it.
  EXPECT_EQ(ManifestToJson(*read), ManifestToJson(manifest));
  EXPECT_EQ(read->variants[0].options.no_progress_limit, 25);
  EXPECT_TRUE(read->variants[0].options.placement_captures_kings);
  EXPECT_EQ(read->provenance.begun_with, "first.pt");
  EXPECT_EQ(read->provenance.begun_with_crc32c, "0a1b2c3d");
  EXPECT_EQ(read->provenance.seed, 18446744073709551615u);
}

// The folder of a run may have any name.
TEST(ManifestTest, IsUtf8WhateverTheNameOfTheRunIs) {
  BundleManifest manifest = SomeManifest();
  manifest.provenance.run = "run\xff";
  const auto read = ManifestFromJson(ManifestToJson(manifest));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->provenance.run, "run\xEF\xBF\xBD");
}

TEST(ManifestTest, WhatIsNotKnownIsLeftOut) {
  BundleManifest manifest = SomeManifest();
  manifest.provenance = BundleProvenance();
  const auto read = ManifestFromJson(ManifestToJson(manifest));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->provenance.run, "");
  EXPECT_FALSE(read->provenance.seed.has_value());
  EXPECT_FALSE(read->provenance.games.has_value());
  EXPECT_FALSE(read->provenance.training_seconds.has_value());
}

TEST(ManifestTest, AnotherVersionIsRefusedWithWhatDiffers) {
  for (const auto& [from, to, message] :
       {std::tuple{"\"format_version\": 2", "\"format_version\": 0",
                   "has format version 0; this program reads versions 1 to 3"},
        {"\"format_version\": 2", "\"format_version\": 9",
         "has format version 9; this program reads versions 1 to 3"},
        {"\"features\": 2", "\"features\": 9",
         "has features version 9 (input planes and globals); this program has "
         "version 2"},
        {"\"policy\": 1", "\"policy\": 9", "policy version 9"},
        {"\"values\": 2", "\"values\": 9", "values version 9"},
        {"\"rules\": 1", "\"rules\": 9", "rules version 9"}}) {
    ExpectError(from, to, absl::StatusCode::kFailedPrecondition, message);
  }
}

TEST(ManifestTest, WhatIsNoManifestIsRefused) {
  for (const std::string text : {"", "[1]"}) {
    EXPECT_THAT(ManifestFromJson(text), StatusIs(absl::StatusCode::kDataLoss));
  }
  for (const auto& [from, to] :
       {std::pair{"tara-bundle", "else"},
        {"\"channels\": 16", "\"channels\": 0"},
        {"\"channels\": 16", "\"channels\": \"many\""},
        {"\"id\": \"high_kings_l2\"", "\"id\": \"chess\""},
        {"\"no_progress_limit\": 25", "\"no_progress_limit\": 0"},
        {"\"provenance\"", "\"from\""},
        {"\"versions\"", "\"editions\""}}) {
    ExpectError(from, to, absl::StatusCode::kDataLoss);
  }
}

// --- Learned rules -----------------------------------------------------------

const std::vector<BundleVariant>& Learned() {
  static const auto* const learned = new std::vector<BundleVariant>{
      {.variant = Variant::kHighKingsL1, .options = {.no_progress_limit = 30}},
      {.variant = Variant::kHighKingsL1, .options = {.no_progress_limit = 20}},
      {.variant = Variant::kSacredHillL1, .options = {}}};
  return *learned;
}

std::string MessageOf(const State& state) {
  return std::string(CheckNetworkLearned("net", Learned(), state).message());
}

TEST(LearnedRulesTest, WhatWasLearnedIsKnown) {
  for (const RuleOptions& options : {RuleOptions{.no_progress_limit = 30},
                                     RuleOptions{.no_progress_limit = 20}}) {
    const State state = InitialState(Variant::kHighKingsL1, options);
    EXPECT_EQ(NotLearned(Learned(), state), "");
    EXPECT_TRUE(CheckNetworkLearned("net", Learned(), state).ok());
  }
  // The variant does not have that option.
  EXPECT_EQ(NotLearned(Learned(), InitialState(Variant::kSacredHillL1,
                                               {.no_progress_limit = 7})),
            "");
}

TEST(LearnedRulesTest, AnotherVariantIsNamedWithThoseLearned) {
  const State state = InitialState(Variant::kFourTreasures, {});
  EXPECT_EQ(NotLearned(Learned(), state), "four_treasures");
  EXPECT_EQ(MessageOf(state),
            "net has not learned four_treasures; its run learned "
            "sacred_hill_l1, high_kings_l1");
}

TEST(LearnedRulesTest, OtherValuesOfOptionsAreNamedWithThoseLearned) {
  const State state =
      InitialState(Variant::kHighKingsL1,
                   {.no_progress_limit = 25, .placement_captures_kings = true});
  EXPECT_EQ(NotLearned(Learned(), state),
            "no_progress_limit=25,placement_captures_kings=true");
  EXPECT_EQ(MessageOf(state),
            "net has not learned "
            "no_progress_limit=25,placement_captures_kings=true of "
            "high_kings_l1; its run learned "
            "no_progress_limit=20/30,placement_captures_kings=false");
}

std::vector<BundleVariant> LearnedByDraws() {
  return {{.variant = Variant::kPoisonedChalice,
           .options = {},
           .drawn = {{FindRuleOption("compensation"), {-3, -2, -1, 0, 4}},
                     {FindRuleOption("pie_rule"), {0, 1}}}}};
}

TEST(LearnedRulesTest, AllValuesThatWereDrawnAreLearned) {
  const std::vector<BundleVariant> learned = LearnedByDraws();
  for (const int halves : {-3, -2, -1, 0, 4}) {
    for (const bool pie_rule : {false, true}) {
      RuleOptions options;
      options.compensation_halves = static_cast<int8_t>(halves);
      options.pie_rule = pie_rule;
      EXPECT_EQ(
          NotLearned(learned, InitialState(Variant::kPoisonedChalice, options)),
          "");
    }
  }
  RuleOptions options;
  options.compensation_halves = 3;
  const State state = InitialState(Variant::kPoisonedChalice, options);
  EXPECT_EQ(CheckNetworkLearned("net", learned, state).message(),
            "net has not learned compensation=1.5 of poisoned_chalice; its run "
            "learned compensation=-1.5..0/2");
  EXPECT_THAT(LearnedOptionTexts(learned[0]),
              ::testing::IsSupersetOf(
                  {"compensation=-1.5..0/2", "pie_rule=false/true"}));
}

TEST(LearnedRulesTest, OnceNobodyCanSwapThePieRuleIsNoOtherRule) {
  RuleOptions options;
  options.pie_rule = true;
  const std::vector<BundleVariant> learned = {
      {.variant = Variant::kPoisonedChalice, .options = options}};
  Random random(1);
  State state = InitialState(Variant::kPoisonedChalice);
  EXPECT_EQ(NotLearned(learned, state), "pie_rule=false");
  ApplyAction(RandomAction(state, random), state);
  EXPECT_EQ(NotLearned(learned, state), "pie_rule=false");
  ApplyAction(RandomAction(state, random), state);
  EXPECT_EQ(NotLearned(learned, state), "");
}

TEST(LearnedRulesTest, ManifestsKeepWhatWasDrawn) {
  BundleManifest manifest;
  manifest.shape = {.channels = 8, .blocks = 1};
  manifest.variants = LearnedByDraws();
  std::string text = ManifestToJson(manifest);
  const auto read = ManifestFromJson(text);
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(LearnedOptionTexts(read->variants[0]),
            LearnedOptionTexts(manifest.variants[0]));
  EXPECT_EQ(ManifestToJson(*read), text);
  // An impossible draw.
  text.replace(text.find("-1.5"), 4, "-1.3");
  EXPECT_THAT(ManifestFromJson(text), StatusIs(absl::StatusCode::kDataLoss,
                                               HasSubstr("bad value '-1.3'")));
}

}  // namespace
}  // namespace tara::nn
