#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "tests/cli/tara_process.h"

namespace tara::cli {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

TEST(ArenaTest, ReportsEveryVariantAsJson) {
  const Json report = JsonOf("arena --variant all random greedy --games 4");
  ASSERT_EQ(report.size(), 10u);
  for (const Json& row : report) {
    EXPECT_EQ(row["games"], 4);
    EXPECT_EQ(row["wins"].get<int>() + row["draws"].get<int>() +
                  row["losses"].get<int>(),
              4);
    EXPECT_LE(row["score_low"], row["score"]);
    EXPECT_GE(row["score_high"], row["score"]);
    EXPECT_TRUE(row.contains("elo"));
  }
}

TEST(ArenaTest, SaysHowManyGamesDiffer) {
  const std::string store = TemporaryPath("start.db");
  const std::string match =
      "arena --variant four_treasures alphabeta:depth=2 alphabeta:depth=1 "
      "--games 8 --opening-plies 0 --store " +
      store;
  EXPECT_THAT(OutputOf(match),
              HasSubstr("four_treasures: 8 games, 2 different up to symmetry"));
  EXPECT_THAT(OutputOf("games stats " + store),
              ContainsRegex("four_treasures +8 +2 "));
  EXPECT_THAT(ErrorOf(2, match + " --sprt elo0=0,elo1=20"),
              HasSubstr("expected at least 1, or no test"));
}

TEST(ArenaTest, PlaysMatches) {
  const Json row = JsonOf(
      "arena --variant sacred_hill_doubles_l1 --by-match "
      "mcts:sims=2,utility=match random --games 9")[0];
  EXPECT_EQ(row["games"], 16);  // pairs of matches of four games
  EXPECT_EQ(row["by_match"]["matches"], 4);
}

TEST(ArenaTest, PlaysWithClocks) {
  const Json clock = JsonOf(
      "arena --variant four_treasures --time-control 1h+1s random greedy "
      "--games 4")[0]["clock"];
  EXPECT_EQ(clock["time_control"], "1h+1s");
  EXPECT_GT(clock["moves_a"], 40);
  EXPECT_EQ(clock["forfeits_a"], 0);
  EXPECT_EQ(clock["forfeits_b"], 0);
}

TEST(ArenaTest, WhatTimeNobodyHasIsRefused) {
  EXPECT_THAT(
      ErrorOf(2,
              "arena --variant four_treasures --time-control 5 random greedy"),
      HasSubstr("bad time control '5'"));
  // Without clocks the same seed gives the same games.
  EXPECT_THAT(
      ErrorOf(2, "arena --variant four_treasures mcts:ponder=on greedy"),
      AllOf(HasSubstr("'mcts:ponder=on' ponders"),
            HasSubstr("expected --time-control")));
}

TEST(ArenaTest, ASequentialTestEndsWhenItHasDecided) {
  const Json row = JsonOf(
      "arena --variant sacred_hill_l1 greedy random --sprt "
      "elo0=0,elo1=50,alpha=0.1")[0];
  const Json sprt = row["sprt"];
  EXPECT_EQ(sprt["decision"], "H1");
  EXPECT_GE(sprt["llr"], sprt["upper_bound"]);
  EXPECT_EQ(sprt["alpha"], 0.1);
  EXPECT_EQ(sprt["beta"], 0.05);
  EXPECT_EQ(row["intervals"], "naive, of a sequential test");
  EXPECT_LT(row["games"], 2000);
  int pairs = 0;
  for (const Json& count : sprt["pairs"]) pairs += count.get<int>();
  EXPECT_EQ(row["games"], 2 * pairs);
  const TaraResult text = RunTara(
      "arena --variant sacred_hill_l1 greedy random --sprt elo0=0,elo1=50 "
      "--games 2");
  EXPECT_THAT(text.out,
              AllOf(HasSubstr("Sequential test (elo0=0,elo1=50,alpha=0.05"),
                    HasSubstr("LLR"), HasSubstr("[-2.94, +2.94]"),
                    HasSubstr("undecided"),
                    HasSubstr("\nIntervals of a sequential test are naive: ")));
  EXPECT_THAT(
      ErrorOf(
          2,
          "arena --variant sacred_hill_l1 random random --sprt elo0=10,elo1=0"),
      HasSubstr("expected elo1 greater"));
  EXPECT_THAT(
      OutputOf("arena --variant sacred_hill_l1 greedy random --games 2"),
      Not(HasSubstr("sequential")));
}

TEST(ArenaTest, GoesOnFromItsResultsFile) {
  const std::string store = TemporaryPath("results.db");
  const auto play = [&](const std::string& games) {
    return OutputOf(
        "arena --variant high_kings_l1 mcts:sims=20 random --games " + games +
        " --store " + store + " --format=json");
  };
  const std::string whole = OutputOf(
      "arena --variant high_kings_l1 mcts:sims=20 random --games 12 "
      "--format=json");
  EXPECT_EQ(Json::parse(play("4"))[0]["games"], 4);
  EXPECT_EQ(play("12"), whole);
  EXPECT_EQ(play("12"), whole);  // nothing left to play
}

TEST(ArenaTest, SaysHowManyGamesWereNotPlayedToTheirEnd) {
  const auto play = [](const std::string& adjudicate) {
    return "arena --variant sacred_hill_l1 mcts:sims=20,utility=points "
           "mcts:sims=30,utility=points --games 4 --adjudicate " +
           adjudicate;
  };
  const Json proof = JsonOf(play("proof"))[0];
  const Json none = JsonOf(play("none"))[0];
  EXPECT_GT(proof["adjudicated"], 0);
  EXPECT_EQ(none["adjudicated"], 0);
  EXPECT_EQ(proof["mean_margin"], none["mean_margin"]);
}

TEST(ArenaTest, AnInterruptReportsTheGamesSoFar) {
  // Progress, when games have finished; shown again, whole pairs have.
  EXPECT_THAT(ShownUntilInterrupted(
                  "arena --variant sacred_hill_l1 random greedy --games "
                  "10000000",
                  std::vector<std::string>(3, "of 10000000 games, score")),
              AllOf(HasSubstr("score %"), HasSubstr("tara: interrupted")));
}

TEST(CrossPlayTest, PlaysAllVariantsInPairsAgainstOthers) {
  const Json report =
      JsonOf("crossplay --variant all greedy mcts:sims=10 random --games 10");
  EXPECT_EQ(report["players"]["B"], "mcts:sims=10");
  ASSERT_EQ(report["studies"].size(), 3u);
  for (const Json& study : report["studies"]) {
    EXPECT_EQ(study["openings"], 3);  // of four games with each other
    ASSERT_EQ(study["matches"].size(), 3u);
    EXPECT_EQ(study["matches"][0]["games"], 6);
    EXPECT_EQ(study["matches"][1]["games"], 6);
    EXPECT_EQ(study["matches"][2]["player_a"], "A+B");
    EXPECT_EQ(study["matches"][2]["games"], 12);
    // The worth is that of the matches' scores.
    const auto score = [&](int match) {
      return study["matches"][match]["score"].get<double>();
    };
    EXPECT_NEAR(study["worth"]["score"].get<double>(),
                score(2) - (score(0) + score(1)) / 2, 1e-9);
    EXPECT_LE(study["worth"]["elo_low"], study["worth"]["elo"]);
  }
}

TEST(CrossPlayTest, WithoutOthersBothPlayEachWithItself) {
  EXPECT_THAT(
      OutputOf(
          "crossplay --variant four_treasures_doubles greedy random --games 8"),
      AllOf(HasSubstr("A: greedy\nB: random\n"), HasSubstr("A+A   B+B"),
            HasSubstr("A+B   A+A"), HasSubstr("A+B   B+B"),
            HasSubstr("minus the mean of each with itself")));
}

TEST(CrossPlayTest, WhatCannotBeIsRefused) {
  ExpectRefused(
      "crossplay",
      {{"--variant sacred_hill_l1 greedy random",
        "cannot play sacred_hill_l1, where a side has one seat"},
       {"--variant sacred_hill_l1 greedy random", "sacred_hill_doubles_l1"},
       {"--variant all greedy greedy", "A and B are both 'greedy'"},
       {"--variant all greedy+random mcts",
        "'greedy+random' is a team; expected a single player"},
       {"--variant all greedy", "B is required"},
       {"--variant all greedy mctss", "unknown player 'mctss'"}});
}

TEST(CrossPlayTest, TeamsAreRatedAmongPlayers) {
  EXPECT_EQ(JsonOf("rate --variant four_treasures_doubles random greedy "
                   "random+greedy --games 8")["players"][2]["name"],
            "random+greedy");
  EXPECT_THAT(ErrorOf(2, "rate --variant four_treasures random random+greedy"),
              HasSubstr("cannot play four_treasures, where a"));
}

TEST(CrossPlayTest, TeamsOfTwoPlayInTheArena) {
  const std::string match =
      "arena greedy+mcts:sims=5 random --games 6 --variant four_treasures";
  EXPECT_EQ(JsonOf(match + "_doubles")[0]["games"], 8);  // whole openings
  EXPECT_THAT(ErrorOf(2, match),
              HasSubstr("cannot play four_treasures, where a"));
  EXPECT_THAT(ErrorOf(2, match + "_doubles --sprt elo0=0"),
              HasSubstr("a sequential test assumes independent pairs"));
}

TEST(RateTest, RatesPlayersInEveryVariant) {
  const Json report = JsonOf("rate random greedy mcts:sims=4 --games 4");
  EXPECT_EQ(report["variants"].size(), 10u);
  ASSERT_EQ(report["players"].size(), 3u);
  EXPECT_EQ(report["players"][0]["overall"]["elo"], 0);  // the anchor
  for (const Json& player : report["players"]) {
    EXPECT_EQ(player["variants"].size(), 10u);
    EXPECT_LE(player["overall"]["low"], player["overall"]["high"]);
  }
}

TEST(RateTest, GoesOnFromItsResultsFile) {
  const std::string store = TemporaryPath("ratings.db");
  const auto rate = [&](const std::string& games) {
    return JsonOf("rate random greedy --variant four_treasures --games " +
                  games + " --store " + store + " --anchor greedy=1000");
  };
  EXPECT_EQ(rate("8")["variants"][0]["games"], 8);
  const Json more = rate("20");
  EXPECT_EQ(more["variants"][0]["games"], 20);
  EXPECT_EQ(more["players"][1]["overall"]["elo"], 1000);
  EXPECT_EQ(rate("8"), more);  // what there is, is used
}

TEST(RateTest, WhatCannotBeRatedIsRefused) {
  const std::string foreign = TemporaryPath("foreign.pt");
  WriteFile(foreign, "this is no network");
  ExpectRefused(
      "rate",
      {{"random", "expected at least two"},
       {"random nobody", "'nobody' is not a run, checkpoint or player"},
       {"random greedy --anchor x=0", "no player of that name"},
       {"random greedy --anchor greedy", "expected NAME=ELO"},
       {"random greedy --anchor greedy=0 --anchor greedy=9",
        "greedy already has a rating"},
       {"random greedy --checkpoints every:0", "bad --checkpoints 'every:0'"},
       {"random net:/nowhere.pt", "/nowhere.pt: no such file", 1},
       {"random " + foreign + " --games 2", foreign, 1}});
}

TEST(PuzzlesTest, AreGamesThatOtherCommandsRead) {
  const Words arguments =
      "puzzles --variant four_treasures --player greedy --games 100 "
      "--puzzles 3 --nodes=2k";
  const TaraResult result = RunTara(arguments);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("four_treasures: 3 puzzles, "));
  EXPECT_EQ(OutputOf(arguments), result.out);
  const std::vector<std::string> lines =
      absl::StrSplit(result.out, '\n', absl::SkipEmpty());
  ASSERT_EQ(lines.size(), 3u);
  for (const std::string& line : lines) {
    OutputOf({"show", "--position", line});
  }
}

TEST(PuzzlesTest, AnInterruptKeepsTheVariantsSoFar) {
  // Nine variants more take long enough for the signal to come before the end.
  EXPECT_THAT(ShownUntilInterrupted(
                  "puzzles --variant all --player greedy --games 2000 "
                  "--puzzles 2000 --nodes=2k",
                  {"sacred_hill_l1: ", "with a wrong first guess"}),
              AllOf(HasSubstr(" 0 battle "), HasSubstr("tara: interrupted")));
}

}  // namespace
}  // namespace tara::cli
