#include "tara/eval/arena/cross_play.h"

#include <cmath>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tara/base/random.h"
#include "tara/eval/arena/arena_result.h"

namespace tara::eval {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A match of as many openings as there are lists, with these margins: two to a
// pair, A as Red first.
CrossPlayMatch MatchOf(const std::string& team, double weight,
                       const std::vector<std::vector<int>>& margins) {
  std::vector<ArenaGame> games;
  for (const std::vector<int>& opening : margins) {
    for (const double margin : opening) {
      const auto number = static_cast<int>(games.size());
      games.push_back(
          {.pair = number / 2, .a_is_red = number % 2 == 0, .margin = margin});
    }
  }
  return {
      .team = team,
      .opponents = "C+C",
      .result = SummarizeGames(games, static_cast<int>(margins[0].size() / 2)),
      .weight = weight};
}

// A and B win all games with themselves, and half of them together.
CrossPlayStudy Strangers() {
  return {
      .variant = Variant::kFourTreasuresDoubles,
      .matches = {
          MatchOf("A+A", -0.5, {{3, 3}, {4, 4}, {3, 3}}),
          MatchOf("B+B", -0.5, {{5, 5}, {6, 6}, {5, 5}}),
          MatchOf("A+B", 1, {{2, 2, -2, -2}, {3, -3, 3, -3}, {2, 2, 2, -4}})}};
}

TEST(CrossPlayTest, TheWorthIsThatBesideTheMeanOfBoth) {
  Random random(1);
  const PartnershipWorth worth = EstimateWorth(Strangers(), random);
  EXPECT_EQ(worth.openings, 3);
  // Scores by opening: 1/2 - 1, 1/2 - 1, 3/4 - 1; their mean is -5/12, s^2 =
  // 1/48, so that the interval is +-4.30265 * sqrt(1/48 / 3) = 0.358555, with
  // t of 2 degrees of freedom.
  EXPECT_NEAR(worth.score.mean, -5.0 / 12, 1e-12);
  EXPECT_NEAR(worth.score.low, -5.0 / 12 - 0.358555, 1e-5);
  EXPECT_NEAR(worth.score.high, -5.0 / 12 + 0.358555, 1e-5);
  // Margins: 0 - (3 + 5) / 2, 0 - (4 + 6) / 2, 1/2 - (3 + 5) / 2.
  EXPECT_NEAR(worth.margin.mean, (-4 - 5 - 3.5) / 3, 1e-12);
  // Scores with half a game: 6.5/7 of A and of B, 7.5/13 of both together.
  EXPECT_NEAR(worth.elo.mean,
              400 * std::log10(7.5 / 5.5) - 400 * std::log10(6.5 / 0.5), 1e-9);
  EXPECT_LE(worth.elo.low, worth.elo.mean);
  EXPECT_GE(worth.elo.high, worth.elo.mean);
  EXPECT_LT(worth.elo.low, worth.elo.high);
}

TEST(CrossPlayTest, WithoutOthersEvenIsHalf) {
  // A with B lose all to A with A, and win all from B with B: as they should
  // if A is far stronger than B, or B than A.
  Random random(1);
  const CrossPlayStudy study = {
      .matches = {MatchOf("A+A", 0, {{1, 1}, {1, 1}}),
                  MatchOf("A+B", 0.5, {{-2, -2, -2, -2}, {-2, -2, -2, -2}}),
                  MatchOf("A+B", 0.5, {{2, 2, 2, 2}, {2, 2, 2, 2}})},
      .even_score = 0.5};
  const PartnershipWorth worth = EstimateWorth(study, random);
  EXPECT_NEAR(worth.score.mean, 0, 1e-12);
  EXPECT_NEAR(worth.margin.mean, 0, 1e-12);
  EXPECT_NEAR(worth.elo.mean, 0, 1e-9);
}

TEST(CrossPlayTest, OpeningsThatAMatchLacksDoNotCount) {
  CrossPlayStudy study = Strangers();
  study.matches[1] = MatchOf("B+B", -0.5, {{5, 5}});
  Random random(1);
  const PartnershipWorth worth = EstimateWorth(study, random);
  EXPECT_EQ(worth.openings, 1);
  EXPECT_EQ(worth.score.mean, -0.5);
  EXPECT_TRUE(std::isinf(worth.score.low));  // of one opening nothing is known
  EXPECT_TRUE(std::isinf(worth.elo.high));
  study.matches[1].result = ArenaResult();
  EXPECT_EQ(EstimateWorth(study, random).openings, 0);
}

TEST(CrossPlayTest, OpeningsWithTheSameGamesAreOne) {
  CrossPlayStudy study = Strangers();
  for (CrossPlayMatch& match : study.matches) {
    const int pairs = match.result.pairs_per_opening;
    for (ArenaGame& game : match.result.played) {
      // Of the third opening those of the first.
      const int opening = game.pair / pairs % 2;
      game.same_game = static_cast<uint64_t>(
          1 + 10 * opening + 2 * (game.pair % pairs) + game.a_is_red);
    }
  }
  Random random(1);
  EXPECT_EQ(EstimateWorth(study, random).openings, 2);
}

// The intervals of the difference hold what is true in 95 of 100 studies, by
// simulation: openings favour the team by a luck that all matches share, which
// an interval of separate samples would count in.
TEST(CrossPlayTest, IntervalsHoldTheTruthAsOftenAsTheySay) {
  Random random(5);
  constexpr int kStudies = 2000;
  constexpr int kOpenings = 50;
  int score_covered = 0;
  int elo_covered = 0;
  const auto play = [&](double chance, int games) {
    std::vector<int> margins;
    for (int i = 0; i < games; ++i) {
      margins.push_back(random.Uniform() < chance ? 1 : -1);
    }
    return margins;
  };
  for (int study = 0; study < kStudies; ++study) {
    std::vector<std::vector<int>> aa;
    std::vector<std::vector<int>> bb;
    std::vector<std::vector<int>> ab;
    for (int i = 0; i < kOpenings; ++i) {
      const double luck = random.Uniform() < 0.5 ? 0.2 : -0.2;
      aa.push_back(play(0.6 + luck, 2));
      bb.push_back(play(0.6 + luck, 2));
      ab.push_back(play(0.5 + luck, 4));
    }
    const PartnershipWorth worth = EstimateWorth(
        {.matches = {MatchOf("A+A", -0.5, aa), MatchOf("B+B", -0.5, bb),
                     MatchOf("A+B", 1, ab)}},
        random);
    score_covered += worth.score.low <= -0.1 && -0.1 <= worth.score.high;
    // Elo of 0.5 less that of 0.6.
    const double elo = -400 * std::log10(0.6 / 0.4);
    elo_covered += worth.elo.low <= elo && elo <= worth.elo.high;
  }
  // One standard deviation of a count of 95 % of 2000 is 9.7: three of them.
  EXPECT_NEAR(score_covered, 1900, 30);
  // The bootstrap is a little too narrow for 50 openings: 93 %.
  EXPECT_NEAR(elo_covered, 1870, 30);
}

CrossPlayReport Report() {
  Random random(1);
  CrossPlayReport report = {.players = {"net:a", "net:b", "mcts"},
                            .studies = {Strangers()},
                            .worths = {}};
  report.worths.push_back(EstimateWorth(report.studies[0], random));
  return report;
}

TEST(CrossPlayReportTest, TheTextSaysWhoPlayedAndWhatItIsWorth) {
  const std::string text = CrossPlayText(Report());
  EXPECT_THAT(text,
              AllOf(HasSubstr("A: net:a\nB: net:b\nC: mcts\n"),
                    HasSubstr("team  opponents  games"),
                    HasSubstr("A+B   C+C           12"),
                    HasSubstr("four_treasures_doubles         3    -41.7"),
                    HasSubstr("[-77.5, -5.8]")));
  EXPECT_THAT(
      CrossPlayText({.players = {"a", "b"}, .studies = {}, .worths = {}}),
      HasSubstr("no games"));
}

TEST(CrossPlayReportTest, TheJsonHasEverything) {
  const auto json = nlohmann::json::parse(CrossPlayJson(Report()));
  EXPECT_EQ(json["players"]["C"], "mcts");
  const auto& study = json["studies"][0];
  EXPECT_EQ(study["variant"], "four_treasures_doubles");
  EXPECT_EQ(study["openings"], 3);
  EXPECT_NEAR(study["worth"]["score"].get<double>(), -5.0 / 12, 1e-9);
  EXPECT_LT(study["worth"]["score_high"], 0);
  EXPECT_EQ(study["matches"].size(), 3u);
  EXPECT_EQ(study["matches"][2]["player_a"], "A+B");
  EXPECT_EQ(study["matches"][2]["weight"], 1);
  EXPECT_EQ(study["matches"][2]["games"], 12);
}

TEST(CrossPlayReportTest, WhatIsNotKnownIsNull) {
  CrossPlayReport report = Report();
  report.studies[0].matches[1] = MatchOf("B+B", -0.5, {{5, 5}});
  Random random(1);
  report.worths[0] = EstimateWorth(report.studies[0], random);
  const auto json = nlohmann::json::parse(CrossPlayJson(report));
  EXPECT_TRUE(json["studies"][0]["worth"]["score_low"].is_null());
  EXPECT_THAT(CrossPlayText(report), HasSubstr("1    -50.0"));
}

}  // namespace
}  // namespace tara::eval
