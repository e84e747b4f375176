#include "tara/eval/balance/balance_report.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/core/variant.h"
#include "tara/eval/balance/balance.h"
#include "tara/eval/balance/balance_driver.h"
#include "tara/eval/players/search_player.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/record/game_store.h"

namespace tara::eval {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

// A small study of each variant, and a change of rules in one.
BalanceReport SmallReport() {
  const auto driver = BalanceDriver::Create(
      [] {
        return absl::StatusOr<std::unique_ptr<Player>>(
            NewSearchPlayer(std::make_unique<mcts::PlayoutEvaluator>(1, 0),
                            {.search = {.simulations = 4}, .reuse = true}));
      },
      1, 16);
  const auto store =
      record::OpenGameStore(":memory:", record::StoreMode::kReadWrite).value();
  BalanceReport report;
  const auto run = [&](const BalanceGameOptions& options) {
    return RunBalanceStudy({.games = 6, .first_games = 1, .pie_games = 2},
                           {.options = options, .player = "mcts:<b>"}, **driver,
                           *store, {})
        .value();
  };
  std::vector<BalanceStudy> studies;
  for (const VariantInfo& info : kVariants) {
    studies.push_back(run({.variant = info.variant}));
  }
  BalanceGameOptions changed = {.variant = Variant::kStoneOfDestiny};
  changed.rule_options.link_all_at_end = false;
  studies.push_back(run(changed));
  for (const BalanceStudy& study : studies) {
    report.rows.push_back({.options = study.options,
                           .player = study.player,
                           .statistics = Summarize(study)});
  }
  report.changes.push_back(
      {.from = studies[studies.size() - 2].options,
       .to = changed,
       .player = "mcts:<b>",
       .difference = Compare(studies[studies.size() - 2], studies.back())});
  CorrectForMany(report);
  return report;
}

const BalanceReport& Report() {
  static const BalanceReport* const report = new BalanceReport(SmallReport());
  return *report;
}

TEST(BalanceReportTest, JsonHoldsEveryStudyAndChange) {
  const Json json = Json::parse(BalanceReportJson(Report()));
  ASSERT_EQ(json.at("studies").size(), kVariants.size() + 1);
  for (const Json& study : json.at("studies")) {
    EXPECT_EQ(study.at("games"), 6);
    for (const std::string name :
         {"first_side_score", "draw_rate", "fair_points", "mean_length"}) {
      // Of six games that are all the same there is no interval.
      if (study.at(name + "_low").is_null()) continue;
      EXPECT_LE(study.at(name + "_low"), study.at(name)) << name;
      EXPECT_GE(study.at(name + "_high"), study.at(name)) << name;
    }
    EXPECT_GE(study.at("p_even_holm"), study.at("p_even"));
    EXPECT_GE(study.at("q_even"), study.at("p_even"));
    EXPECT_LE(study.at("q_even"), study.at("p_even_holm"));
    EXPECT_EQ(study.at("pie_rule").at("games"), 2);
    int games = 0;
    for (const auto& [margin, count] : study.at("margin_counts").items()) {
      games += count.get<int>();
    }
    EXPECT_EQ(games, 6);
    // Every hill that a game may begin with is on the board once.
    int actions = 0;
    for (const Json& first : study.at("first_actions")) {
      actions += static_cast<int>(first.at("actions").size());
    }
    const std::string variant = study.at("variant");
    EXPECT_EQ(study.contains("seats"),
              variant.find("doubles") != std::string::npos);
    if (variant == "sacred_hill_l1") {
      EXPECT_EQ(actions, 45);
    } else if (variant == "poisoned_chalice") {
      EXPECT_EQ(actions, 20);
    }
  }
  ASSERT_EQ(json.at("what_if").size(), 1u);
  EXPECT_EQ(json.at("what_if")[0].at("changed"), "link_all_at_end=false");
}

TEST(BalanceReportTest, TextHasALineForEachStudy) {
  const std::string text = BalanceReportText(Report());
  for (const VariantInfo& info : kVariants) {
    EXPECT_THAT(text, HasSubstr(std::string(info.id)));
  }
  EXPECT_THAT(text, AllOf(HasSubstr("is it fair?"), HasSubstr("fair points"),
                          HasSubstr("pie rule"), HasSubstr("what if"),
                          HasSubstr("with link_all_at_end=false"),
                          HasSubstr("0 Red South")));
  EXPECT_EQ(BalanceReportText({}), "no games\n");
}

TEST(BalanceReportTest, TextSaysWhereGamesRepeatEachOther) {
  BalanceReport report;
  report.rows.push_back(Report().rows[0]);
  BalanceStatistics& statistics = report.rows[0].statistics;
  statistics.games = 300;
  statistics.distinct_games = 270;
  EXPECT_THAT(BalanceReportText(report), Not(HasSubstr("repeat each other")));
  statistics.distinct_games = 269;
  EXPECT_THAT(BalanceReportText(report),
              AllOf(HasSubstr("Games repeat each other"),
                    HasSubstr("300 games, but only 269 different ones")));
}

TEST(BalanceReportTest, OneStudyHasOnePValue) {
  BalanceReport report = {.rows = {Report().rows[0]}, .changes = {}};
  EXPECT_THAT(BalanceReportText(report),
              AllOf(HasSubstr("p even"), Not(HasSubstr("p of all"))));
  report.rows.push_back(Report().rows[1]);
  EXPECT_THAT(BalanceReportText(report),
              AllOf(HasSubstr("p even"), HasSubstr("p of all")));
}

TEST(BalancePageTest, IsOneFileThatNeedsNothingElse) {
  const std::string page = BalancePage(Report());
  EXPECT_THAT(page, AllOf(HasSubstr("Chart.js v"), Not(HasSubstr("{{")),
                          Not(HasSubstr("src=\"")), Not(HasSubstr("<link")),
                          Not(HasSubstr("@import"))));
  // What a player is called must not become part of the page.
  EXPECT_THAT(page,
              AllOf(HasSubstr("mcts:\\u003cb>"), Not(HasSubstr("mcts:<b>"))));
  EXPECT_THAT(BalancePage({}), HasSubstr("\"studies\": []"));
}

TEST(BalanceReportTest, PValuesAreCorrectedForHowManyThereAre) {
  BalanceReport report;
  report.rows.resize(3);
  report.rows[0].statistics.p_even = 0.01;
  report.rows[1].statistics.p_even = 0.5;
  report.rows[2].statistics.p_even = 0.02;
  CorrectForMany(report);
  EXPECT_DOUBLE_EQ(report.rows[0].p_even_holm, 0.03);
  EXPECT_DOUBLE_EQ(report.rows[2].p_even_holm, 0.04);
  EXPECT_DOUBLE_EQ(report.rows[1].p_even_holm, 0.5);
  // 0.01 * 3 / 1 and 0.02 * 3 / 2: the smaller for both.
  EXPECT_DOUBLE_EQ(report.rows[0].q_even, 0.03);
  EXPECT_DOUBLE_EQ(report.rows[2].q_even, 0.03);
  EXPECT_DOUBLE_EQ(report.rows[1].q_even, 0.5);
}

}  // namespace
}  // namespace tara::eval
