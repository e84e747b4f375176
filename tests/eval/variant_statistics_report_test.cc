#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "tara/core/playouts.h"
#include "tara/core/rule_options.h"
#include "tara/core/variant.h"
#include "tara/eval/playouts/variant_statistics.h"

namespace tara::eval {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

VariantStatistics StatisticsOf(Variant variant, int games,
                               const RuleOptions& options = {}) {
  return Summarize(variant, options,
                   PlayRandomGamesByPublicRules(variant, options, 1, 0, games));
}

std::vector<VariantStatistics> OfAllVariants(int games) {
  std::vector<VariantStatistics> all;
  for (const VariantInfo& info : kVariants) {
    all.push_back(StatisticsOf(info.variant, games));
  }
  return all;
}

TEST(VariantStatisticsReportTest, TablesHaveAllVariantsIn110Columns) {
  const std::string text = VariantStatisticsText(OfAllVariants(200));
  for (const VariantInfo& info : kVariants) {
    EXPECT_THAT(text, HasSubstr(std::string("\n") + std::string(info.id)));
  }
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    EXPECT_LE(line.size(), 110u) << line;
  }
}

TEST(VariantStatisticsReportTest, TablesLeaveOutWhatNeverHappens) {
  EXPECT_THAT(VariantStatisticsText({StatisticsOf(Variant::kFourTreasures, 9)}),
              AllOf(HasSubstr("out %"), Not(HasSubstr("passed")),
                    Not(HasSubstr("kings")), Not(HasSubstr("link"))));
  EXPECT_EQ(VariantStatisticsText({}), "no games\n");
}

TEST(VariantStatisticsReportTest, ChangedRulesAreSaid) {
  EXPECT_THAT(VariantStatisticsText({StatisticsOf(Variant::kHighKingsL1, 9,
                                                  {.no_progress_limit = 3})}),
              HasSubstr("high_kings_l1 with no_progress_limit=3\n"));
}

TEST(VariantStatisticsReportTest, JsonIsByVariantWithIntervals) {
  const Json report = Json::parse(VariantStatisticsJson(OfAllVariants(300)));
  ASSERT_EQ(report.size(), kVariants.size());
  for (const VariantInfo& info : kVariants) {
    const Json& row = report.at(std::string(info.id));
    EXPECT_EQ(row.at("games"), 300);
    for (const std::string name :
         {"mean_length", "mean_branching", "first_side_score",
          "first_side_win_rate", "draw_rate", "second_side_win_rate",
          "mean_margin"}) {
      EXPECT_LE(row.at(name + "_low"), row.at(name)) << name;
      EXPECT_GE(row.at(name + "_high"), row.at(name)) << name;
    }
    for (const std::string name :
         {"ended_by", "length_counts", "margin_counts"}) {
      int64_t games = 0;
      for (const auto& [key, count] : row.at(name).items()) {
        games += count.get<int64_t>();
      }
      EXPECT_EQ(games, 300) << name;
    }
    double length = 0;
    for (const auto& [phase, actions] : row.at("phase_lengths").items()) {
      length += actions.get<double>();
    }
    EXPECT_NEAR(length, row.at("mean_length"), 1e-9);
    EXPECT_GE(row.at("max_length"), row.at("mean_length"));
  }
}

TEST(VariantStatisticsReportTest, JsonOfASingleGameHasNoInfinities) {
  const Json row = Json::parse(VariantStatisticsJson(
      {StatisticsOf(Variant::kFourTreasures, 1)}))["four_treasures"];
  EXPECT_TRUE(row.at("mean_length_low").is_null());
}

int Count(absl::string_view text, absl::string_view part) {
  return static_cast<int>(
             std::vector<absl::string_view>(absl::StrSplit(text, part))
                 .size()) -
         1;
}

TEST(StatisticsPageTest, IsOneFileThatNeedsNothingElse) {
  const std::string page = StatisticsPage(OfAllVariants(20), /*seed=*/42);
  EXPECT_THAT(page, HasSubstr("Seed 42."));
  EXPECT_THAT(page, AllOf(Not(HasSubstr("{{")), Not(HasSubstr("src=\"")),
                          Not(HasSubstr("<link")), Not(HasSubstr("@import"))));
  EXPECT_EQ(Count(page, "<script"), 1);
  EXPECT_EQ(Count(page, "</script>"), 1);
}

TEST(StatisticsPageTest, DrawsTheDistributionsOfEachVariant) {
  const std::string page = StatisticsPage(OfAllVariants(20), 1);
  EXPECT_EQ(Count(page, "plot of games by length, actions"),
            static_cast<int>(kVariants.size()));
  EXPECT_EQ(Count(page, "plot of games by margin, points"),
            static_cast<int>(kVariants.size()));
}

}  // namespace
}  // namespace tara::eval
