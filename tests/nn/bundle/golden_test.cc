#include "tara/nn/bundle/golden.h"

#include <cmath>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/nn/nn_testing.h"

namespace tara::nn {
namespace {

using ::testing::HasSubstr;

std::vector<BundleVariant> AllVariants() {
  std::vector<BundleVariant> variants;
  for (const VariantInfo& info : kVariants) {
    variants.push_back({.variant = info.variant, .options = {}});
  }
  return variants;
}

// As many numbers as a network says, all different.
GoldenTensors SomeOutputs(size_t size) {
  GoldenTensors outputs;
  const auto fill = [](size_t count, std::vector<float>& values) {
    for (size_t i = 0; i < count; ++i) {
      values.push_back(std::sin(static_cast<float>(i)));
    }
  };
  fill(size * kNumActions, outputs.policy);
  fill(size * 3, outputs.result);
  fill(size * kNumMargins, outputs.margins);
  return outputs;
}

TEST(GoldenTest, EveryVariantHasTwentyPositionsFromStartToEnd) {
  const auto positions = MakeGoldenPositions(AllVariants());
  ASSERT_EQ(positions.size(), kVariants.size() * 20);
  for (const VariantInfo& info : kVariants) {
    std::set<int> vacant;
    for (int i = 0; i < 20; ++i) {
      const State& state =
          positions[static_cast<size_t>(info.variant) * 20 + i].state;
      EXPECT_EQ(state.variant, info.variant);
      EXPECT_FALSE(state.finished());
      vacant.insert(Count(state.vacant()));
    }
    EXPECT_EQ(*vacant.rbegin(), kNumHills) << info.id;  // the start
    EXPECT_LT(*vacant.begin(), 15) << info.id;
    EXPECT_GE(vacant.size(), 8u) << info.id;
  }
}

TEST(GoldenTest, RuleOptionsAreThoseOfTheVariant) {
  const auto positions =
      MakeGoldenPositions({{.variant = Variant::kHighKingsL1,
                            .options = {.no_progress_limit = 7}}});
  EXPECT_EQ(positions[5].state.options.no_progress_limit, 7);
}

TEST(GoldenTest, JsonHoldsThePositionsAndWhatIsExpected) {
  const auto positions = MakeGoldenPositions(AllVariants());
  const GoldenTensors outputs = SomeOutputs(positions.size());
  const std::string text = GoldenToJson(positions, outputs);
  const auto golden = GoldenFromJson(text);
  ASSERT_THAT(golden, IsOk());
  EXPECT_EQ(golden->positions, positions);
  std::vector<mcts::Evaluation> expected;
  for (size_t i = 0; i < positions.size(); ++i) {
    expected.push_back(ToEvaluation(positions[i], outputs, i));
    expected.back().margins.clear();
  }
  // Half a unit of the sixth digit, and of the last bit of a float.
  ExpectNear(golden->expected, expected, 6e-7f);
  EXPECT_THAT(
      GoldenFromJson(absl::StrReplaceAll(text, {{"\"win\"", "\"won\""}})),
      StatusIs(absl::StatusCode::kDataLoss, HasSubstr("position 0")));
}

TEST(GoldenTest, WhatIsWrongWithAPositionIsSaid) {
  const auto positions =
      MakeGoldenPositions({{.variant = Variant::kSacredHillL1, .options = {}}});
  const std::string text =
      GoldenToJson(positions, SomeOutputs(positions.size()));
  const auto expect = [&](const std::string& wrong,
                          const std::string& message) {
    ASSERT_NE(wrong, text);
    EXPECT_THAT(GoldenFromJson(wrong),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr(message)));
  };
  expect("{", "golden.json: malformed JSON at byte 2");
  expect("{\"positions\": [{}]}", "position 0");
  for (const auto& [from, to, message] :
       {std::tuple{"sacred_hill_l1 5/7", "sacred_hill_l9 5/7",
                   "sacred_hill_l9"},
        {"\"network_indices\":[0,1,2", "\"network_indices\":[1,0,2",
         "network_indices"},
        {"\"seat_shift\":0", "\"seat_shift\":1", "symmetry of sacred_hill_l1"},
        {"\"seen_as\":\"sacred_hill_l1 5", "\"seen_as\":\"sacred_hill_l1 4",
         "seen_as of sacred_hill_l1"},
        {"\"variant\":\"sacred_hill_l1", "\"variant\":\"x",
         "variant of sacred_hill_l1"},
        {"\"actions\":[\"B1\",\"C1\"", "\"actions\":[\"C1\",\"B1\"",
         "actions of sacred_hill_l1"},
        {"\"action_indices\":[0,1,2", "\"action_indices\":[1,0,2",
         "action_indices of sacred_hill_l1"}}) {
    expect(absl::StrReplaceAll(text, {{from, to}}), message);
  }
}

}  // namespace
}  // namespace tara::nn
