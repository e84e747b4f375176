#include "tara/eval/report/report.h"

#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tara/core/variant.h"

namespace tara::eval {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::ordered_json;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// One field of each kind.
ReportRow RowOf(Variant variant, const Interval& score) {
  return {VariantField("variant", "variant", variant),
          CountField("games", "games", 1000),
          ShareField("score", "score %", score),
          NumberField("lead", "", 0.125),
          JsonField("points", "points", "3-2", {3, 2}),
          CountsField("lengths", "length", {{"40", 7}})};
}

TEST(ReportTest, ATableHasTextsToTheLeftAndEstimatesInTwoColumns) {
  // Widths of 0.2 and 20 per cent: digits that tell the ends apart.
  EXPECT_EQ(TableText({RowOf(Variant::kHighKingsL1, {0.5, 0.499, 0.501}),
                       RowOf(Variant::kFourTreasures, {0.5, 0.4, 0.6})}),
            "variant         games  score %            95 %  points\n"
            "high_kings_l1    1000    50.00  [49.90, 50.10]  3-2\n"
            "four_treasures   1000     50.0    [40.0, 60.0]  3-2\n");
}

TEST(ReportTest, JsonHasUnroundedNumbersAndNullForWhatIsNotFinite) {
  const Json expected = {
      {"variant", "high_kings_l1"}, {"games", 1000},         {"score", 0.5},
      {"score_low", nullptr},       {"score_high", 0.61},    {"lead", 0.125},
      {"points", {3, 2}},           {"lengths", {{"40", 7}}}};
  EXPECT_EQ(RowJson(RowOf(Variant::kHighKingsL1, {0.5, -kInfinity, 0.61})),
            expected);
}

TEST(ReportTest, WhatIsNotKnownIsADashAndNotInTheJson) {
  const ReportRow row = {TextField("player", "player", "a"),
                         NoField("score", "score")};
  EXPECT_EQ(RowJson(row), Json({{"player", "a"}}));
  EXPECT_EQ(TableText({row}), "player  score\na       -\n");
  EXPECT_EQ(
      EstimateField("", "x", {0.5, -kInfinity, kInfinity}, kPercent).range,
      "-");
}

TEST(ReportTest, ColumnsWithoutAnyValueAreLeftOut) {
  const std::vector<ReportRow> rows = WithoutEmptyColumns(
      {{TextField("", "a", "1"), TextField("", "b", ""), NoField("", "c")},
       {TextField("", "a", ""), TextField("", "b", "-"), NoField("", "c")}});
  ASSERT_EQ(rows[0].size(), 1u);
  EXPECT_EQ(rows[0][0].heading, "a");
}

TEST(ReportTest, SectionsWithoutRowsAreLeftOut) {
  const std::vector<ReportSection> sections = {
      {.title = "First", .rows = {{TextField("", "a", "1")}}, .notes = "N\n"},
      {.title = "Second"},
      {.heading = "Third", .rows = {{TextField("", "b", "2")}}}};
  EXPECT_EQ(SectionsText(sections), "First:\na\n1\nN\n\nb\n2\n");
  const std::string page = SectionsPage("Title", "of <what>", sections);
  EXPECT_THAT(page, HasSubstr("<title>Tara: Title</title>"));
  EXPECT_THAT(page, HasSubstr("of \\u003cwhat>"));
  EXPECT_THAT(page, HasSubstr("\"heading\":\"Third\""));
  EXPECT_THAT(page, testing::Not(HasSubstr("Second")));
}

}  // namespace
}  // namespace tara::eval
