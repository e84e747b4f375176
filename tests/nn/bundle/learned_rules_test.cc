#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tara/nn/bundle/manifest.h"

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
            "no_progress_limit=20,no_progress_limit=30,"
            "placement_captures_kings=false");
}

}  // namespace
}  // namespace tara::nn
