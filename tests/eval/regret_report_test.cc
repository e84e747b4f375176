#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tara/core/variant.h"
#include "tara/eval/regret/regret.h"
#include "tara/eval/report/report_page.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// A checkpoint, which says what it thinks, and a player that does not.
std::vector<RegretRow> RowsByHand() {
  return {{.variant = Variant::kFourTreasures,
           .player = "ckpt-000007",
           .point = TrainingPoint{.run = "runs/a", .generation = 7},
           .regret = {.positions = 50,
                      .points = {0.5, 0.25, 0.75},
                      .results = {0.1, 0.05, 0.15},
                      .best = {0.8, 0.7, 0.9},
                      .policy = Interval{0.6, 0.5, 0.7},
                      .value_error = Interval{0.2, 0.1, 0.3}}},
          {.variant = Variant::kFourTreasures,
           .player = "<greedy>",
           .regret = {.positions = 50, .points = {2, 1, 3}}}};
}

TEST(RegretReportTest, TheTableHasARowAPlayerAndDashesWhereNothingIsSaid) {
  const std::string text = RegretReportText(RowsByHand());
  EXPECT_THAT(text, HasSubstr("four_treasures  ckpt-000007         50"));
  EXPECT_THAT(text, HasSubstr("[50.0, 70.0]"));
  EXPECT_THAT(text, HasSubstr("<greedy>"));
  EXPECT_THAT(text, HasSubstr(" - "));
  EXPECT_EQ(RegretReportText({}), "no positions\n");
}

TEST(RegretReportTest, JsonTellsWhereCheckpointsStand) {
  const auto json = nlohmann::json::parse(RegretReportJson(RowsByHand()));
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[0]["run"], "runs/a");
  EXPECT_EQ(json[0]["generation"], 7);
  EXPECT_EQ(json[0]["value_error_high"], 0.3);
  EXPECT_FALSE(json[1].contains("run"));
  EXPECT_FALSE(json[1].contains("policy"));
}

TEST(RegretReportTest, ThePageHoldsTheReportAndWhatDrawsIt) {
  const std::string page = RegretPage(RowsByHand());
  EXPECT_THAT(page, AllOf(HasSubstr("Four Treasures"), HasSubstr("<figure"),
                          HasSubstr("&lt;greedy>"), Not(HasSubstr("{{"))));
}

}  // namespace
}  // namespace tara::eval
