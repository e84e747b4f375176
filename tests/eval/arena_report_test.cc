#include <cmath>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tara/base/random.h"
#include "tara/core/variant.h"
#include "tara/eval/arena/arena.h"
#include "tara/eval/arena/arena_result.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Four pairs; A wins the first `won` of the eight games, loses the others.
ArenaReportRow Row(Variant variant, int won, const std::string& player_a = "a",
                   const std::string& player_b = "b") {
  std::vector<ArenaGame> games;
  for (int i = 0; i < 8; ++i) {
    games.push_back({.pair = i / 2,
                     .a_is_red = i % 2 == 0,
                     .margin = i < won ? 3.0 : -3.0,
                     .length = 40});
  }
  return {.variant = variant,
          .player_a = player_a,
          .player_b = player_b,
          .result = SummarizeGames(games)};
}

TEST(ArenaReportTest, TheTextIsATableWithATotal) {
  // First row: 4 of 4 pairs, of which 0.025^(1/4) = 39.8 % have a chance of
  // 2.5 %, and 400 log10(0.398 / 0.602) = -72. Second row: the pairs score 1,
  // 1, 1/2, 0; with a 0 and a 1 more they have mean 7/12 and variance 0.2014:
  // 4 * 0.2431 / 0.2014 = 4.83 trials, of which 5/8 has the ends 15.5 and 95.9
  // %; margins of pairs 3, 3, 0, -3: mean 0.75, s^2 = 8.25, half width 3.18245
  // * sqrt(8.25 / 4) = 4.570. Total, eight pairs: margins have mean 15/8, s^2 =
  // 4.982, half width 2.36462 * sqrt(4.982 / 8) = 1.866.
  const std::vector<ArenaReportRow> rows = {
      Row(Variant::kSacredHillL1, 8, "net:x", "greedy"),
      Row(Variant::kHighKingsL2, 5, "net:x", "greedy")};
  EXPECT_EQ(
      ReportArena(rows).text,
      "A: net:x\n"
      "B: greedy\n"
      "Not enough different games for a verdict, fewer than 20: total (16).\n"
      "variant         games  wins  draws  losses  score %           95 %   "
      "Elo "
      "         95 %  margin            95 %  as Red %  as Blue %  length\n"
      "sacred_hill_l1      8     8      0       0    100.0  [39.8, 100.0]  "
      "+inf "
      "  [-72, +inf]   +3.00               -     100.0      100.0    40.0\n"
      "high_kings_l2       8     5      0       3     62.5   [15.5, 95.9]   "
      "+89 "
      " [-294, +546]   +0.75  [-3.82, +5.32]      75.0       50.0    40.0\n"
      "total              16    13      0       3     81.2   [44.0, 98.2]  "
      "+255 "
      "  [-42, +691]   +1.88  [+0.01, +3.74]      87.5       75.0    40.0\n");
}

// Two pairs of which A loses one game by a fault, and B `faults_b` others.
ArenaReportRow FaultyRow(int faults_b) {
  std::vector<ArenaGame> games;
  for (int i = 0; i < 2 * (faults_b + 2) / 2 * 2; ++i) {
    games.push_back({.pair = i / 2, .a_is_red = i % 2 == 0, .margin = 1});
  }
  games[1].forfeit = Forfeit::kByA;
  games[1].fault = "E 1: resigned";
  for (int i = 0; i < faults_b; ++i) {
    games[i + 2].forfeit = Forfeit::kByB;
    games[i + 2].fault = "F 2: crashed";
  }
  return {.variant = Variant::kHighKingsL1,
          .player_a = "engine:e",
          .player_b = "engine:f",
          .result = SummarizeGames(games)};
}

TEST(ArenaReportTest, ForfeitsAreNamed) {
  const std::string text = ReportArena({FaultyRow(1)}).text;
  EXPECT_THAT(text,
              HasSubstr("\nForfeits, 2 in all (losses by 2 points):\n"
                        "variant        by  opening  as    fault\n"
                        "high_kings_l1  A   0        Blue  E 1: resigned\n"
                        "high_kings_l1  B   1        Blue  F 2: crashed\n"));
  EXPECT_THAT(ReportArena({FaultyRow(14)}).text,
              EndsWith("F 2: crashed\n... and 5 more\n"));
  // Of different players: which.
  std::vector<ArenaReportRow> rows = {FaultyRow(0),
                                      Row(Variant::kSacredHillL1, 8)};
  EXPECT_THAT(ReportArena(rows).text,
              HasSubstr("high_kings_l1  engine:e  0        Blue"));
  EXPECT_THAT(ReportArena({Row(Variant::kSacredHillL1, 8)}).text,
              Not(HasSubstr("Forfeits")));
}

TEST(ArenaReportTest, IntervalsOfASequentialTestAreCalledNaive) {
  std::vector<ArenaReportRow> rows = {Row(Variant::kSacredHillL1, 8),
                                      Row(Variant::kHighKingsL2, 5)};
  EXPECT_THAT(ReportArena(rows).text, Not(HasSubstr("naive")));
  rows[1].result.sprt.emplace(SprtOptions());
  EXPECT_THAT(
      ReportArena(rows).text,
      HasSubstr("40.0\nIntervals of a sequential test are naive: they"));
  const auto json = nlohmann::json::parse(ReportArena(rows).json);
  EXPECT_FALSE(json[0].contains("intervals"));
  EXPECT_EQ(json[1]["intervals"], "naive, of a sequential test");
}

TEST(ArenaReportTest, TheVerdictIsThatOfScoresOrOfTests) {
  std::vector<ArenaReportRow> rows = {Row(Variant::kSacredHillL1, 8)};
  rows[0].result.distinct_games = 20;
  EXPECT_EQ(ArenaVerdict(rows),
            "These games do not show who is stronger: Sacred Hill, Level 1 "
            "(100.0 % [39.8, 100.0]).");
  rows[0].result.score.low = 0.6;
  EXPECT_THAT(ArenaVerdict(rows), StartsWith("A is stronger: "));
  rows[0].result.sprt.emplace(SprtOptions());
  EXPECT_EQ(ArenaVerdict(rows),
            "The test is undecided (Sacred Hill, Level 1, 20 different "
            "games).");
  EXPECT_EQ(ArenaVerdict({}), "Nothing was played.");
}

TEST(ArenaReportTest, DifferentPlayersAreNamedInTheRows) {
  EXPECT_THAT(ReportArena({Row(Variant::kSacredHillL1, 8, "net:x", "greedy"),
                           Row(Variant::kSacredHillL1, 5, "net:x", "random")})
                  .text,
              AllOf(HasSubstr("variant         A      B       games"),
                    HasSubstr("sacred_hill_l1  net:x  greedy      8"),
                    Not(HasSubstr("total"))));
}

TEST(ArenaReportTest, WithoutRowsItSaysSo) {
  EXPECT_EQ(ReportArena({}).text, "no games\n");
  EXPECT_EQ(ReportArena({}).json, "[]");
}

// Two matches of two games: A wins one of them by 6 and draws the other.
ArenaReportRow MatchRow(Variant variant) {
  const std::vector<ArenaGame> games = {
      {.pair = 0, .match = 0, .a_is_red = true, .margin = 3, .length = 40},
      {.pair = 0, .match = 1, .a_is_red = false, .margin = 4, .length = 40},
      {.pair = 1, .match = 1, .a_is_red = true, .margin = -4, .length = 40},
      {.pair = 1, .match = 0, .a_is_red = false, .margin = 3, .length = 40}};
  return {.variant = variant,
          .player_a = "a",
          .player_b = "b",
          .result = SummarizeGames(games)};
}

TEST(ArenaReportTest, MatchesComeBeforeTheirGames) {
  // The pair of matches scores 3/4. With a 0 and a 1 more: mean 7/12, variance
  // 0.1806, 0.2431 / 0.1806 = 1.346 trials.
  EXPECT_THAT(
      ReportArena({MatchRow(Variant::kSacredHillL1)}).text,
      StartsWith(
          "A: a\n"
          "B: b\n"
          "Not enough different games for a verdict, fewer than 20: Sacred "
          "Hill, Level 1 (4).\n"
          "variant         matches  won  drawn  lost  score %          95 %   "
          "Elo           95 %   lead  95 %\n"
          "sacred_hill_l1        2    1      1     0     75.0  [1.9, 100.0]  "
          "+191  [-681, +2055]  +3.00     -\n"
          "\n"
          "The games of the matches:\n"
          "variant         games  wins"));
  // A total as that of the games.
  EXPECT_THAT(ReportArena({MatchRow(Variant::kSacredHillL1),
                           MatchRow(Variant::kPoisonedChalice)})
                  .text,
              ContainsRegex("total +4 +2 +2 +0 +75.0"));
}

// Of two games A lost one on time; its 20 moves took 5 s, the 10 of B 1 s.
ArenaReportRow ClockRow(const std::string& time_control) {
  ArenaReportRow row = {.variant = Variant::kSacredHillL1,
                        .player_a = "a",
                        .player_b = "b",
                        .result = {},
                        .time_control = time_control};
  row.result = SummarizeGames({{.a_is_red = true,
                                .margin = -kForfeitMargin,
                                .length = 30,
                                .forfeit = Forfeit::kByA,
                                .time_a = {15, absl::Seconds(4)},
                                .time_b = {5, absl::Milliseconds(700)}},
                               {.a_is_red = false,
                                .margin = 3,
                                .length = 40,
                                .time_a = {5, absl::Seconds(1)},
                                .time_b = {5, absl::Milliseconds(300)}}});
  return row;
}

TEST(ArenaReportTest, ClocksFollowTheGames) {
  EXPECT_THAT(
      ReportArena({ClockRow("2s/move")}).text,
      EndsWith(
          "\nClocks (2s/move), mean time of a move and games lost on time:\n"
          "variant         games  A s/move  B s/move  A on time  B on time\n"
          "sacred_hill_l1      2     0.250     0.100          1          0\n"));
  // With different clocks the title names none, and a total adds up.
  EXPECT_THAT(ReportArena({ClockRow("2s/move"), ClockRow("60s")}).text,
              AllOf(HasSubstr("\nClocks, mean time"),
                    ContainsRegex("total +4 +0.250 +0.100 +2 +0\n")));
  EXPECT_THAT(ReportArena({Row(Variant::kSacredHillL1, 4)}).text,
              Not(HasSubstr("Clocks")));
}

TEST(ArenaReportTest, TheJsonHasEveryFieldThatAppliesAndNullForInfinity) {
  using Json = nlohmann::json;
  Json list = Json::parse(
      ReportArena({Row(Variant::kSacredHillL1, 8, "net:x", "greedy"),
                   MatchRow(Variant::kSacredHillL1), ClockRow("2s/move"),
                   FaultyRow(2)})
          .json);
  ASSERT_EQ(list.size(), 4u);
  Json& won = list[0];
  EXPECT_NEAR(won["score_low"], 0.3976, 1e-4);
  EXPECT_NEAR(won["elo_low"], -72.15, 0.01);
  won.erase("score_low");
  won.erase("elo_low");
  // The interval of the margin is of four pairs that are all the same.
  EXPECT_EQ(won, Json::parse(R"({
    "variant": "sacred_hill_l1", "player_a": "net:x", "player_b": "greedy",
    "games": 8, "distinct_games": 8, "wins": 8, "draws": 0, "losses": 0,
    "score": 1, "score_high": 1, "elo": null, "elo_high": null,
    "mean_margin": 3, "mean_margin_low": null, "mean_margin_high": null,
    "adjudicated": 0, "games_as_red": 4, "wins_as_red": 4, "draws_as_red": 0,
    "score_as_red": 1, "score_as_blue": 1, "mean_length": 40})"));
  Json& matches = list[1]["by_match"];
  for (const char* end : {"score_low", "score_high", "elo_low", "elo_high"}) {
    EXPECT_EQ(matches.erase(end), 1u);
  }
  matches.erase("elo");
  EXPECT_EQ(matches, Json::parse(R"({
    "matches": 2, "wins": 1, "draws": 1, "losses": 0, "score": 0.75,
    "mean_lead": 3, "mean_lead_low": null, "mean_lead_high": null})"));
  EXPECT_EQ(list[2]["clock"], Json::parse(R"({
    "time_control": "2s/move", "mean_move_s_a": 0.25, "mean_move_s_b": 0.1,
    "moves_a": 20, "moves_b": 10, "forfeits_a": 1, "forfeits_b": 0})"));
  const Json& forfeits = list[3]["forfeits"];
  EXPECT_EQ(forfeits["a"], 1);
  EXPECT_EQ(forfeits["b"], 2);
  ASSERT_EQ(forfeits["games"].size(), 3u);
  EXPECT_EQ(forfeits["games"][0], Json::parse(R"({
    "opening": 0, "a_is_red": false, "by": "A", "length": 0,
    "fault": "E 1: resigned"})"));
}

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

CrossPlayReport StudyOfStrangers() {
  Random random(1);
  CrossPlayReport report = {.players = {"net:a", "net:b", "mcts"},
                            .studies = {Strangers()},
                            .worths = {}};
  report.worths.push_back(EstimateWorth(report.studies[0], random));
  return report;
}

TEST(CrossPlayReportTest, TheTextSaysWhoPlayedAndWhatItIsWorth) {
  const std::string text = ReportCrossPlay(StudyOfStrangers()).text;
  EXPECT_THAT(text,
              AllOf(HasSubstr("A: net:a\nB: net:b\nC: mcts\n"),
                    HasSubstr("team  opponents  games"),
                    HasSubstr("A+B   C+C           12"),
                    HasSubstr("four_treasures_doubles         3    -41.7"),
                    HasSubstr("[-77.5, -5.8]")));
  EXPECT_THAT(
      ReportCrossPlay({.players = {"a", "b"}, .studies = {}, .worths = {}})
          .text,
      HasSubstr("no games"));
}

TEST(CrossPlayReportTest, TheJsonHasEverything) {
  const auto json =
      nlohmann::json::parse(ReportCrossPlay(StudyOfStrangers()).json);
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

}  // namespace
}  // namespace tara::eval
