#include "tara/eval/balance/verdict.h"

#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/core/variant.h"
#include "tara/eval/balance/balance.h"
#include "tara/eval/balance/balance_report.h"
#include "tara/eval/players/player_spec.h"

namespace tara::eval {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

BalanceReportRow Study(const Interval& score, double p_even,
                       const std::string& player = "mcts:sims=200") {
  BalanceReportRow row = {.options = {.variant = Variant::kPoisonedChalice},
                          .player = player,
                          .spec = ParsePlayerSpec(player).value(),
                          .statistics = {},
                          .p_even_holm = p_even,
                          .q_even = p_even};
  row.statistics.games = row.statistics.distinct_games = 1000;
  row.statistics.score = score;
  row.statistics.p_even = p_even;
  return row;
}

std::string TextOf(const BalanceReport& report, size_t which = 0) {
  return absl::StrJoin(VerdictsOf(report).at(which).sentences, " ");
}

std::string OfStudy(const Interval& score, double p_even) {
  BalanceReport report;
  report.rows.push_back(Study(score, p_even));
  return TextOf(report);
}

// A remedy that was found by a search, with its fresh games.
FairReportRow Remedy(int halves, const Interval& score) {
  FairReportRow row = {.from = {.variant = Variant::kPoisonedChalice},
                       .options = {.variant = Variant::kPoisonedChalice},
                       .player = "mcts:sims=200",
                       .searched = true,
                       .estimate = {halves, halves - 1, halves + 2},
                       .games = 2000,
                       .wanted_games = 2000,
                       .distinct_games = 2000,
                       .score = score};
  row.options.rule_options.compensation_halves = static_cast<int8_t>(halves);
  return row;
}

constexpr Interval kEven = {0.496, 0.474, 0.518};

TEST(VerdictTest, PointsAreInWords) {
  EXPECT_EQ(PointsInWords(1), "half a point");
  EXPECT_EQ(PointsInWords(2), "one point");
  EXPECT_EQ(PointsInWords(3), "one and a half points");
  EXPECT_EQ(PointsInWords(5), "two and a half points");
  EXPECT_EQ(PointsInWords(24), "twelve points");
}

TEST(VerdictTest, ASideIsFavouredWhereThatIsShown) {
  EXPECT_EQ(OfStudy({0.18, 0.16, 0.21}, 0.0001),
            "The second side is favoured: the first scores 18 % [16, 21] "
            "between players of this strength.");
  EXPECT_EQ(OfStudy({0.523, 0.505, 0.541}, 0.02),
            "The first side is favoured, but by little: the first scores 52.3 "
            "% [50.5, 54.1] between players of this strength.");
  // An end must not be taken for even by rounding.
  EXPECT_THAT(OfStudy({0.58, 0.504, 0.65}, 0.03), HasSubstr("[50.4, 65.0]"));
}

TEST(VerdictTest, EvenIsSaidOnlyWhereTheIntervalIsNearEven) {
  EXPECT_EQ(OfStudy({0.496, 0.474, 0.518}, 0.7),
            "The sides are even to within 5 %: the first scores 49.6 % [47.4, "
            "51.8] between players of this strength.");
}

TEST(VerdictTest, NothingIsShownInCarefulWords) {
  EXPECT_EQ(OfStudy({0.47, 0.40, 0.54}, 0.4),
            "It is not shown that either side is favoured: the first scores 47 "
            "% [40, 54], which leaves an advantage of up to 10 % for the "
            "second side or 4 % for the first side possible.");
  BalanceReport report;
  report.rows.push_back(Study({0.42, 0.36, 0.49}, 0.03));
  report.rows[0].p_even_holm = 0.12;
  report.rows.push_back(Study({0.5, 0.4, 0.6}, 1));
  report.rows[1].options.variant = Variant::kSacredHillL1;
  EXPECT_EQ(TextOf(report),
            "It is not shown that either side is favoured: the first scores 42 "
            "% [36, 49], which by itself would be a sign that the second side "
            "is, but is not among the 2 studies of this report.");
}

TEST(VerdictTest, FewDifferentGamesGiveNoVerdict) {
  BalanceReport report;
  report.rows.push_back(Study({1, 0.83, 1}, 0.0001));
  report.rows[0].statistics.games = 200;
  report.rows[0].statistics.distinct_games = 19;
  report.fair.push_back(Remedy(-5, kEven));
  report.fair[0].distinct_games = 8;
  EXPECT_THAT(
      VerdictsOf(report)[0].sentences,
      ElementsAre(
          "There is no verdict with fewer than 20 different games: the "
          "first scores 100 % [83, 100].",
          "Of these 200 games only 19 differ, which makes the interval "
          "wider.",
          "The games with compensation are too few, as there is no "
          "verdict with fewer than 20 different games (49.6 % [47.4, "
          "51.8], 2,000 fresh games).",
          "Of these 2,000 games only 8 differ, which makes the interval "
          "wider."));
  // Nor do players or changed rules move what is not known.
  report.rows.push_back(Study({0.5, 0.45, 0.55}, 0.5, "mcts:sims=800"));
  EXPECT_EQ(VerdictsOf(report)[1].sentences.size(), 1u);
  report.rows[0].statistics.distinct_games = 20;
  EXPECT_THAT(VerdictsOf(report)[0].sentences[0],
              HasSubstr("The first side is favoured"));
  EXPECT_EQ(VerdictsOf(report)[1].sentences.size(), 2u);
}

TEST(VerdictTest, StrengthIsTheLastPlayersAgainstTheFirsts) {
  const auto text = [](const Interval& first, const Interval& last,
                       const std::string& last_player) {
    BalanceReport report;
    report.rows.push_back(Study(first, 0.001, "mcts:graph=on,sims=50"));
    report.rows.push_back(Study({0.3, 0.2, 0.4}, 0.001, "mcts:sims=100"));
    report.rows.push_back(Study(last, 0.001, last_player));
    EXPECT_EQ(VerdictsOf(report)[0].sentences.size(), 1u);
    EXPECT_EQ(VerdictsOf(report)[1].sentences.size(), 1u);
    return VerdictsOf(report).at(2).sentences.at(1);
  };
  EXPECT_EQ(
      text({0.27, 0.24, 0.30}, {0.18, 0.16, 0.21}, "mcts:graph=on,sims=800"),
      "Stronger players move it further from even: from 27 % [24, 30] to 18 % "
      "[16, "
      "21] with 800 simulations instead of 50.");
  EXPECT_THAT(
      text({0.18, 0.16, 0.21}, {0.27, 0.24, 0.30}, "mcts:graph=on,sims=800"),
      HasSubstr("Stronger players move it nearer to even: "));
  EXPECT_THAT(
      text({0.38, 0.36, 0.41}, {0.57, 0.54, 0.60}, "mcts:graph=on,sims=800"),
      HasSubstr("Stronger players move it to the other side: "));
  EXPECT_EQ(
      text({0.27, 0.2, 0.34}, {0.25, 0.18, 0.33}, "mcts:graph=on,sims=800"),
      "That it depends on strength is not shown (27 % [20, 34] to 25 % "
      "[18, 33] from 50 to 800 simulations).");
  // Which of two networks is stronger is not known.
  EXPECT_EQ(text({0.27, 0.24, 0.30}, {0.18, 0.16, 0.21}, "net:b,sims=9"),
            "With net:b,sims=9 instead of mcts:graph=on,sims=50 it moves "
            "further from even: from 27 % [24, 30] to 18 % [16, 21].");
}

TEST(VerdictTest, ChangedRulesHaveTheirStudyAndWhatTheyMove) {
  BalanceReport report;
  report.rows.push_back(Study({0.18, 0.16, 0.21}, 0.001));
  BalanceReportRow changed = Study({0.24, 0.21, 0.27}, 0.001);
  changed.options.rule_options.no_progress_limit = 30;
  report.rows.push_back(changed);
  report.changes.push_back(
      {.from = report.rows[0].options,
       .to = changed.options,
       .player = changed.player,
       .difference = {.distinct_games = 20, .score = {0.06, 0.02, 0.1}},
       .p_score_holm = 0.01});
  ASSERT_EQ(VerdictsOf(report).size(), 1u);
  EXPECT_THAT(
      TextOf(report),
      HasSubstr("With no_progress_limit=30 the second side is favoured: the "
                "first scores 24 % [21, 27] between players of this strength. "
                "This change moves the first side's score by +6.0 % [+2.0, "
                "+10.0]."));
  report.changes[0].difference.distinct_games = 19;
  EXPECT_THAT(TextOf(report), HasSubstr("is not shown"));
  report.changes[0].difference.distinct_games = 20;
  report.changes[0].p_score_holm = 0.3;
  EXPECT_THAT(TextOf(report),
              HasSubstr("That this change moves the score is not shown (+6.0 % "
                        "[+2.0, +10.0])."));
}

FairReportRow Pie(const Interval& score) {
  FairReportRow row = Remedy(0, score);
  row.searched = false;
  row.options.rule_options.pie_rule = true;
  return row;
}

std::vector<std::string> Remedies(std::vector<FairReportRow> rows) {
  BalanceReport report;
  report.rows.push_back(Study({0.18, 0.16, 0.21}, 0.0001));
  report.fair = std::move(rows);
  std::vector<std::string> sentences = VerdictsOf(report).at(0).sentences;
  sentences.erase(sentences.begin());
  return sentences;
}

TEST(VerdictTest, ACompensationAndThePieRuleMakeItEven) {
  EXPECT_THAT(
      Remedies({Remedy(-5, kEven), Pie({0.49, 0.468, 0.512})}),
      ElementsAre("Two and a half points for the first side make it even (49.6 "
                  "% [47.4, 51.8], 2,000 fresh games); the search leaves 1.5 "
                  "to 3 points.",
                  "The pie rule makes it even too: the chooser scores 51.0 % "
                  "[48.8, 53.2], 2,000 fresh games."));
  EXPECT_THAT(Remedies({Remedy(1, kEven)}),
              ElementsAre(HasSubstr("Half a point for the second side makes it "
                                    "even (")));
  EXPECT_THAT(Remedies({Remedy(1, kEven)})[0], HasSubstr("0 to 1.5 points"));
}

TEST(VerdictTest, LessThanEvenIsCalledWhatItIs) {
  EXPECT_THAT(Remedies({Remedy(4, {0.475, 0.455, 0.495})})[0],
              HasSubstr("Two points for the second side make it nearly even"));
  EXPECT_THAT(
      Remedies({Remedy(4, {0.47, 0.40, 0.54})})[0],
      HasSubstr("Two points for the second side may make it even, which "
                "is not shown (47 % [40, 54]"));
  EXPECT_THAT(Remedies({Remedy(4, {0.40, 0.35, 0.45})})[0],
              HasSubstr("Two points for the second side come nearest to even, "
                        "but that is not even (40 % [35, 45]"));
  EXPECT_THAT(
      Remedies({Pie({0.40, 0.35, 0.45})})[0],
      HasSubstr("The pie rule does not make it even: the chooser scores 60 % "
                "[55, 65]"));
  EXPECT_THAT(Remedies({Pie({0.47, 0.40, 0.54})})[0],
              HasSubstr("The pie rule may make it even, which is not shown: "));
}

TEST(VerdictTest, NoCompensationMayBeEnoughOrNeeded) {
  FairReportRow end = Remedy(-24, {0.30, 0.27, 0.33});
  end.estimate.beyond = true;
  EXPECT_EQ(Remedies({end})[0],
            "No compensation up to twelve points makes it even: with twelve "
            "points for the first side the first still scores 30 % [27, 33], "
            "2,000 fresh games.");
  EXPECT_THAT(Remedies({Remedy(0, kEven)})[0],
              HasSubstr("No points are needed: without any it is even (49.6 % "
                        "[47.4, 51.8], 2,000 fresh games); the search leaves "
                        "0.5 points for the first side to 1 point for the "
                        "second side."));
  EXPECT_THAT(Remedies({Remedy(0, {0.47, 0.40, 0.54})})[0],
              HasSubstr("No points for either come nearer to even than none, "
                        "which may be even"));
  EXPECT_THAT(Remedies({Remedy(0, {0.40, 0.35, 0.45})})[0],
              HasSubstr("which is not even"));
  // An interval that is open.
  end.score = kEven;
  end.estimate.low = -25;
  EXPECT_THAT(Remedies({end})[0], HasSubstr("11 to more than 12 points"));
}

TEST(VerdictTest, BothTogetherNameTheSeats) {
  FairReportRow both = Remedy(-1, kEven);
  both.options.rule_options.pie_rule = true;
  EXPECT_EQ(Remedies({both})[0],
            "The pie rule and half a point for the player who begins together "
            "make it even (the chooser scores 50.4 % [48.2, 52.6], 2,000 fresh "
            "games); the search leaves 1 point for the player who begins to "
            "0.5 points for the chooser.");
  both.estimate.halves = 0;
  EXPECT_THAT(Remedies({both})[0],
              HasSubstr("Beside the pie rule no points are needed: "));
}

TEST(VerdictTest, WhatWasBrokenOffShowsNothing) {
  FairReportRow part = Remedy(-5, kEven);
  part.games = part.distinct_games = 700;
  EXPECT_EQ(Remedies({part})[0],
            "The games with compensation were broken off (700 of 2,000): "
            "nothing is shown of it.");
}

TEST(VerdictTest, CautionsFollowTheFigures) {
  FairReportRow row = Pie(kEven);
  row.not_learned = "pie_rule=true";
  row.distinct_games = 1500;
  const auto sentences = Remedies({row});
  ASSERT_EQ(sentences.size(), 3u);
  EXPECT_EQ(sentences[1],
            "The network has not learned these rules (pie_rule=true), so that "
            "this shows little of strong play.");
  EXPECT_EQ(sentences[2],
            "Of these 2,000 games only 1,500 differ, which makes the interval "
            "wider.");
}

TEST(VerdictTest, InFourSeatsThereIsNoPieRule) {
  BalanceReport report;
  report.rows.push_back(Study(kEven, 0.5));
  report.rows[0].options.variant = Variant::kFourTreasuresDoubles;
  report.fair.push_back(Remedy(2, kEven));
  report.fair[0].from.variant = report.fair[0].options.variant =
      Variant::kFourTreasuresDoubles;
  EXPECT_THAT(TextOf(report),
              HasSubstr("The pie rule is for two seats, and was "
                        "not tried."));
}

TEST(VerdictTest, WhatOpeningsCostIsStatedOrUnknown) {
  BalanceReport report;
  report.rows.push_back(Study(kEven, 0.5));
  EXPECT_THAT(TextOf(report), Not(HasSubstr("openings")));
  report.openings.push_back(
      {.options = report.rows[0].options, .player = report.rows[0].player});
  EXPECT_THAT(TextOf(report), HasSubstr("What the openings cost the sides is "
                                        "not known"));
  report.openings[0].options.temperature = 0.5;
  report.openings[0].cost = {{{0.012, 0.01, 0.014}, {0.02, 0, 0.04}}};
  EXPECT_THAT(TextOf(report),
              HasSubstr("The first 8 actions of a game are drawn from the "
                        "player's policy at temperature 0.5, which by its own "
                        "search costs the second side 2.0 % [0.0, 4.0] of a "
                        "game and the first 1.2 % [1.0, 1.4], and so adds some "
                        "1 % to its score."));
  report.openings[0].cost = {{{0.02, 0, 0.04}, {0.016, 0.01, 0.02}}};
  EXPECT_THAT(TextOf(report), HasSubstr("and the first 2.0 % [0.0, 4.0]."));
  report.openings[0].cost = {{{0.07, 0, 0.14}, {0.02, 0.01, 0.03}}};
  EXPECT_THAT(TextOf(report),
              HasSubstr("and so takes some 5 % from its score."));
}

}  // namespace
}  // namespace tara::eval
