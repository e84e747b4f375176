#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tara/nn/bundle/manifest.h"
#include "tests/status_matchers.h"

namespace tara::nn {
namespace {

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
  EXPECT_THAT(ManifestFromJson(text),
              StatusIs(absl::StatusCode::kDataLoss,
                       ::testing::HasSubstr("bad value '-1.3'")));
}

}  // namespace
}  // namespace tara::nn
