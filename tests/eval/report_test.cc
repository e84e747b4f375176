#include "tara/eval/report/report.h"

#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace tara::eval {
namespace {

using ::testing::AllOf;
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
  const std::string page = SectionsPage("Title", "of <what>", sections, {});
  EXPECT_THAT(page, AllOf(HasSubstr("<title>Tara: Title</title>"),
                          HasSubstr("of &lt;what>"),
                          HasSubstr("<a href=\"#third\">Third</a>"),
                          testing::Not(HasSubstr("Second"))));
}

TEST(ReportTest, ARatingHasHalfItsIntervalInItsColumn) {
  constexpr NumberFormat kRating = {.digits = 0, .sign = true, .around = true};
  EXPECT_EQ(TableText({{EstimateField("", "a", {10, 0, 20}, kRating)},
                       {EstimateField("", "a", {0, 0, 0}, kRating)}}),
            "       a\n+10 +-10\n      +0\n");
}

TEST(ReportTest, AnIntervalWithoutWidthIsUnknown) {
  const ReportField field = MeanField("x", "x", {3, 3, 3});
  EXPECT_EQ(field.range, "-");
  EXPECT_EQ(RowJson({field}),
            Json({{"x", 3}, {"x_low", nullptr}, {"x_high", nullptr}}));
}

// A player's row with its score and its different games.
ReportRow ScoreOf(const std::string& player, const Interval& score, int games) {
  return {TextField("", "player", player),
          CountField("distinct_games", "", games),
          EstimateField("score", "score %", score, kScore)};
}

TEST(ReportTest, AVerdictNamesWhatIsShownAndWhatHasTooFewGames) {
  const VerdictWords words = {
      .above = "good: ", .below = "bad: ", .neither = "not shown: "};
  EXPECT_EQ(VerdictOn({ScoreOf("a", {0.7, 0.6, 0.8}, 20),
                       ScoreOf("b", {0.5, 0.4, 0.6}, 100),
                       ScoreOf("c", {0.3, 0.2, 0.4}, 100),
                       ScoreOf("d", {1, 0.8, 1}, 19)},
                      "score", words),
            "Good: a (70.0 % [60.0, 80.0]); bad: c (30.0 % [20.0, 40.0]); not "
            "shown: b (50.0 % [40.0, 60.0]); not enough different games for a "
            "verdict, fewer than 20: d (19).");
  // A total stands for all rows.
  EXPECT_EQ(VerdictOn({ScoreOf("a", {0.7, 0.6, 0.8}, 20),
                       ScoreOf("total", {0.6, 0.55, 0.65}, 40)},
                      "score", words),
            "Good: total (60.0 % [55.0, 65.0]).");
}

TEST(ReportTest, ThePageHasThePlotsAndTheColoursOfWhatIsShown) {
  const std::string page =
      SectionsPage("T", "",
                   {{.heading = "Scores",
                     .rows = {ScoreOf("a", {0.7, 0.6, 0.8}, 20),
                              ScoreOf("b", {0.5, 0.4, 0.6}, 100)},
                     .plots = "estimates"}},
                   {"What is shown."});
  EXPECT_THAT(
      page,
      AllOf(HasSubstr("<p>What is shown.</p>"),
            HasSubstr("aria-label=\"Score % \u2013 plot of Score %: a 70.0 "
                      "[60.0, 80.0]; b 50.0 [40.0, 60.0]\""),
            HasSubstr("<td class=\"better\">70.0<small>[60.0, "
                      "80.0]</small>"),
            HasSubstr("<circle class=\"draw\""), HasSubstr("Download CSV")));
}

}  // namespace
}  // namespace tara::eval
