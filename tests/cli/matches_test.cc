#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
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
using ::testing::IsEmpty;
using ::testing::Not;
using Json = nlohmann::json;

TEST(ArenaTest, ReportsEveryVariantAsJson) {
  const TaraResult result =
      RunTara({"arena", "--variant", "all", "random", "greedy", "--games", "4",
               "--format=json"});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.err, NoErrors());
  const Json report = Json::parse(result.out);
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

TEST(ArenaTest, PlaysTheSameGamesFromTheSameSeed) {
  const auto play = [](const std::string& seed) {
    return RunTara({"arena", "--variant", "high_kings_l2", "random", "random",
                    "--games", "20", "--seed", seed, "--format=json"})
        .out;
  };
  EXPECT_EQ(play("1"), play("1"));
  EXPECT_NE(play("1"), play("2"));
}

TEST(ArenaTest, SaysHowManyGamesDiffer) {
  const std::string store = TemporaryPath("start.db");
  const std::vector<std::string> match = {"arena",
                                          "--variant",
                                          "four_treasures",
                                          "alphabeta:depth=2",
                                          "alphabeta:depth=1",
                                          "--games",
                                          "8",
                                          "--opening-plies",
                                          "0",
                                          "--store",
                                          store};
  const TaraResult result = RunTara(match);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out,
              HasSubstr("four_treasures: 8 games, 2 different up to symmetry"));
  EXPECT_THAT(RunTara({"games", "stats", store}).out,
              ContainsRegex("four_treasures +8 +2 "));
  std::vector<std::string> test = match;
  test.insert(test.end(), {"--sprt", "elo0=0,elo1=20"});
  EXPECT_THAT(ErrorOf(2, test), HasSubstr("expected at least 1, or no test"));
}

TEST(ArenaTest, PlaysMatches) {
  const TaraResult result = RunTara(
      {"arena", "--variant", "sacred_hill_doubles_l1", "--by-match",
       "mcts:sims=2,utility=match", "random", "--games", "9", "--format=json"});
  EXPECT_EQ(result.status, 0) << result.err;
  const Json row = Json::parse(result.out)[0];
  EXPECT_EQ(row["games"], 16);  // pairs of matches of four games
  EXPECT_EQ(row["by_match"]["matches"], 4);
}

// An arena of a person and a random player without openings.
TaraResult PersonPlays(const std::string& input,
                       const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"arena",
                                        "--variant",
                                        "four_treasures",
                                        "person",
                                        "random",
                                        "--games",
                                        "4",
                                        "--threads=3",
                                        "--format=json",
                                        "--opening-plies",
                                        "0"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return RunTara(arguments, input);
}

TEST(ArenaTest, APersonPlaysByTypingActions) {
  // All hills over and over: who types what is not legal is asked again.
  std::string hills;
  for (int times = 0; times < 400; ++times) {
    for (const char file : {'a', 'B', 'C', 'D', 'E', 'F', 'G'}) {
      for (const char rank : {'1', '2', '3', '4', '5', '6', '7'}) {
        hills += {file, rank, '\n'};
      }
    }
  }
  const TaraResult result = PersonPlays(hills);
  ASSERT_EQ(result.status, 0) << result.err;
  const Json row = Json::parse(result.out)[0];
  EXPECT_EQ(row["player_a"], "person");
  EXPECT_EQ(row["games"], 4);
  EXPECT_THAT(
      result.err,
      AllOf(HasSubstr("Red, an action (or legal, resign, quit): "),
            HasSubstr("Blue, an action"), HasSubstr("\nPlayed: "),
            HasSubstr("'a1' is not a legal action; expected one of A2 A3")));
}

TEST(ArenaTest, APersonMayResignOrLeave) {
  const TaraResult resigned =
      PersonPlays("legal\nresign\n\n resign \nresign\nresign\n");
  ASSERT_EQ(resigned.status, 0) << resigned.err;
  const Json row = Json::parse(resigned.out)[0];
  EXPECT_EQ(row["games"], 4);
  EXPECT_EQ(row["score"], 0);
  EXPECT_THAT(resigned.err, HasSubstr("Legal: A2 A3"));

  // What is finished is there, and the same command goes on.
  const std::string store = TemporaryPath("person.db");
  for (const char* const left : {"resign\nresign\nquit\n", "C1\n"}) {
    const TaraResult result = PersonPlays(left, {"--store", store});
    EXPECT_EQ(result.status, 130) << result.err;
    EXPECT_EQ(Json::parse(result.out)[0]["games"], 2);
    EXPECT_THAT(result.err, HasSubstr("interrupted"));
  }
  const TaraResult rest = PersonPlays("resign\nresign\n", {"--store", store});
  EXPECT_EQ(rest.status, 0) << rest.err;
  EXPECT_EQ(Json::parse(rest.out)[0]["games"], 4);
}

TEST(ArenaTest, CtrlCAtTheTerminalEndsAPersonsMatchWithItsReport) {
  TerminalTara arena({"arena", "--variant", "four_treasures", "person",
                      "random", "--games", "4", "--opening-plies", "0"});
  const std::string prompt = "an action (or legal, resign, quit): ";
  for (int game = 0; game < 2; ++game) {
    ASSERT_TRUE(arena.Expect(prompt)) << arena.shown();
    arena.Type("resign\n");
  }
  ASSERT_TRUE(arena.Expect(prompt)) << arena.shown();
  arena.Type("\x03");
  EXPECT_TRUE(arena.Expect("four_treasures")) << arena.shown();
  EXPECT_TRUE(arena.Expect("interrupted")) << arena.shown();
  EXPECT_EQ(arena.Wait(), 130);
}

TEST(ArenaTest, PlaysWithClocks) {
  const TaraResult result =
      RunTara({"arena", "--variant", "four_treasures", "--time-control",
               "1h+1s", "random", "greedy", "--games", "4", "--format=json"});
  EXPECT_EQ(result.status, 0) << result.err;
  const Json clock = Json::parse(result.out)[0]["clock"];
  EXPECT_EQ(clock["time_control"], "1h+1s");
  EXPECT_GT(clock["moves_a"], 40);
  EXPECT_EQ(clock["forfeits_a"], 0);
  EXPECT_EQ(clock["forfeits_b"], 0);
}

TEST(ArenaTest, WhatTimeNobodyHasIsRefused) {
  EXPECT_THAT(ErrorOf(2, {"arena", "--variant", "four_treasures",
                          "--time-control", "5", "random", "greedy"}),
              HasSubstr("bad time control '5'"));
  // Without clocks the same seed gives the same games.
  EXPECT_THAT(ErrorOf(2, {"arena", "--variant", "four_treasures",
                          "mcts:ponder=on", "greedy"}),
              AllOf(HasSubstr("'mcts:ponder=on' ponders"),
                    HasSubstr("expected --time-control")));
}

TEST(ArenaTest, HeedsRuleOptionsWhereTheyApply) {
  const TaraResult result =
      RunTara({"arena", "--variant", "all", "random", "random", "--games", "2",
               "--option", "no_progress_limit=1"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(RunTara({"arena", "--variant", "all", "random", "random",
                     "--option", "no_progres=1"})
                .status,
            2);
}

TEST(ArenaTest, ASequentialTestEndsWhenItHasDecided) {
  const TaraResult result =
      RunTara({"arena", "--variant", "sacred_hill_l1", "greedy", "random",
               "--sprt", "elo0=0,elo1=50,alpha=0.1", "--format=json"});
  ASSERT_EQ(result.status, 0) << result.err;
  const Json row = Json::parse(result.out)[0];
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
  const TaraResult text =
      RunTara({"arena", "--variant", "sacred_hill_l1", "greedy", "random",
               "--sprt", "elo0=0,elo1=50", "--games", "2"});
  EXPECT_THAT(text.out,
              AllOf(HasSubstr("Sequential test (elo0=0,elo1=50,alpha=0.05"),
                    HasSubstr("LLR"), HasSubstr("[-2.94, +2.94]"),
                    HasSubstr("undecided"),
                    HasSubstr("\nIntervals of a sequential test are naive: ")));
  EXPECT_THAT(ErrorOf(2, {"arena", "--variant", "sacred_hill_l1", "random",
                          "random", "--sprt", "elo0=10,elo1=0"}),
              HasSubstr("expected elo1 greater"));
  const TaraResult fixed = RunTara({"arena", "--variant", "sacred_hill_l1",
                                    "greedy", "random", "--games", "2"});
  EXPECT_THAT(fixed.out, Not(HasSubstr("sequential")));
}

TEST(ArenaTest, GoesOnFromItsResultsFile) {
  const std::string store = TemporaryPath("results.db");
  const auto play = [&](const std::string& games) {
    const TaraResult result = RunTara(
        {"arena", "--variant", "high_kings_l1", "mcts:sims=20", "random",
         "--games", games, "--store", store, "--format=json"});
    EXPECT_EQ(result.status, 0) << result.err;
    return result.out;
  };
  const std::string whole =
      RunTara({"arena", "--variant", "high_kings_l1", "mcts:sims=20", "random",
               "--games", "12", "--format=json"})
          .out;
  EXPECT_EQ(Json::parse(play("4"))[0]["games"], 4);
  EXPECT_EQ(play("12"), whole);
  EXPECT_EQ(play("12"), whole);  // nothing left to play
}

TEST(ArenaTest, GamesOfOtherOpeningsAreKeptApart) {
  const std::string store = TemporaryPath("results.db");
  const auto play = [&](const std::string& openings, bool with_store) {
    std::vector<std::string> arguments = {
        "arena",   "--variant", "sacred_hill_l1", "greedy", "random",
        "--games", "20",        "--openings",     openings, "--format=json"};
    if (with_store) arguments.insert(arguments.end(), {"--store", store});
    return RunTara(arguments).out;
  };
  play("random", true);
  const std::string balanced = play("balanced:mcts:sims=10", false);
  EXPECT_NE(balanced, play("random", false));
  EXPECT_EQ(play("balanced:mcts:sims=10", true), balanced);
}

TEST(ArenaTest, OpeningsMayBeBalancedByAPlayer) {
  const auto play = [](const std::string& openings) {
    return RunTara({"arena", "--variant", "four_treasures", "random", "greedy",
                    "--games", "4", "--openings", openings, "--format=json"});
  };
  const TaraResult balanced = play("balanced:mcts:sims=30");
  EXPECT_EQ(balanced.status, 0) << balanced.err;
  EXPECT_EQ(Json::parse(balanced.out)[0]["games"], 4);
  EXPECT_EQ(play("fair").status, 2);
  EXPECT_THAT(play("fair").err, HasSubstr("expected random or balanced:SPEC"));
  EXPECT_THAT(play("balanced:random").err, HasSubstr("estimates no value"));
}

TEST(ArenaTest, SaysHowManyGamesWereNotPlayedToTheirEnd) {
  const auto play = [](const std::string& adjudicate) {
    return RunTara({"arena", "--variant", "sacred_hill_l1",
                    "mcts:sims=20,utility=points",
                    "mcts:sims=30,utility=points", "--games", "4",
                    "--adjudicate", adjudicate, "--format=json"});
  };
  const Json proof = Json::parse(play("proof").out)[0];
  const Json none = Json::parse(play("none").out)[0];
  EXPECT_GT(proof["adjudicated"], 0);
  EXPECT_EQ(none["adjudicated"], 0);
  EXPECT_EQ(proof["mean_margin"], none["mean_margin"]);
  const TaraResult bad = play("agreement:2,3");
  EXPECT_EQ(bad.status, 2);
  EXPECT_THAT(bad.err, HasSubstr("such as agreement:0.95,4"));
}

TEST(ArenaTest, AnInterruptReportsTheGamesSoFar) {
  TerminalTara tara({"arena", "--variant", "sacred_hill_l1", "random", "greedy",
                     "--games", "10000000"});
  // Progress, when games have finished; shown again, whole pairs have.
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(tara.Expect("of 10000000 games, score"));
    ASSERT_TRUE(tara.Expect(", about "));
    ASSERT_TRUE(tara.Expect(" left"));
  }
  tara.Signal(SIGINT);
  EXPECT_EQ(tara.Wait(), 130);
  EXPECT_THAT(tara.shown(),
              AllOf(HasSubstr("score %"), HasSubstr("tara: interrupted")));
}

TEST(ArenaTest, ANetworkThatIsNotThereIsAFailure) {
  const std::string missing = TemporaryPath("missing.pt");
  EXPECT_THAT(ErrorOf(1, {"arena", "--variant", "four_treasures", "random",
                          "net:" + missing}),
              HasSubstr(missing));
  WriteFile(missing, "this is no network");
  EXPECT_THAT(ErrorOf(1, {"arena", "--variant", "four_treasures", "random",
                          "net:" + missing}),
              HasSubstr(missing + " is not a checkpoint of Tara"));
}

TEST(ArenaTest, ResultsFilesThatCannotBeAreRefused) {
  const std::string store = TemporaryPath("results.db");
  const auto error = [&] {
    const TaraResult result =
        RunTara({"arena", "--variant", "four_treasures", "random", "greedy",
                 "--games", "4", "--store", store});
    EXPECT_EQ(result.status, 1);
    EXPECT_THAT(result.out, IsEmpty());
    return result.err;
  };
  ASSERT_EQ(RunTara({"arena", "--variant", "four_treasures", "random", "greedy",
                     "--games", "4", "--store", store})
                .status,
            0);
  const std::string good = ReadFile(store);
  // Cut short.
  WriteFile(store, good.substr(0, good.size() / 2));
  EXPECT_THAT(error(), HasSubstr(store + ": "));
  // A page overwritten.
  std::string damaged = good;
  for (size_t i = 4096; i < damaged.size(); ++i) damaged[i] = '?';
  WriteFile(store, damaged);
  EXPECT_THAT(error(), HasSubstr(store + ": "));
  const std::string notes =
      "these are notes, and long ones: more than a hundred bytes of them, so "
      "that they might well be a database";
  WriteFile(store, notes);
  EXPECT_THAT(error(), HasSubstr(store + ": not a SQLite file"));
  EXPECT_EQ(ReadFile(store), notes);
}

TEST(CrossPlayTest, PlaysAllVariantsInPairsAgainstOthers) {
  const TaraResult result =
      RunTara({"crossplay", "--variant", "all", "greedy", "mcts:sims=10",
               "random", "--games", "10", "--format=json"});
  ASSERT_EQ(result.status, 0) << result.err;
  const Json report = Json::parse(result.out);
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
  const TaraResult result =
      RunTara({"crossplay", "--variant", "four_treasures_doubles", "greedy",
               "random", "--games", "8"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("A: greedy\nB: random\n"), HasSubstr("A+A   B+B"),
                    HasSubstr("A+B   A+A"), HasSubstr("A+B   B+B"),
                    HasSubstr("minus the mean of each with itself")));
}

TEST(CrossPlayTest, GoesOnFromItsResultsFile) {
  const std::string store = TemporaryPath("results.db");
  const auto play = [&](const std::string& games, bool with_store) {
    std::vector<std::string> arguments = {
        "crossplay", "--variant",   "sacred_hill_doubles_l1",
        "greedy",    "mcts:sims=5", "random",
        "--games",   games,         "--format=json"};
    if (with_store) arguments.insert(arguments.end(), {"--store", store});
    const TaraResult result = RunTara(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    return result.out;
  };
  play("4", true);
  const std::string whole = play("12", false);
  EXPECT_EQ(play("12", true), whole);
  EXPECT_EQ(play("12", true), whole);  // nothing left to play
}

TEST(CrossPlayTest, WhatCannotBeIsRefused) {
  const auto error = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "crossplay");
    const TaraResult result = RunTara(arguments);
    EXPECT_EQ(result.status, 2) << result.out;
    return result.err;
  };
  EXPECT_THAT(error({"--variant", "sacred_hill_l1", "greedy", "random"}),
              AllOf(HasSubstr("cannot play sacred_hill_l1, where a side has "
                              "one seat"),
                    HasSubstr("sacred_hill_doubles_l1")));
  EXPECT_THAT(error({"--variant", "all", "greedy", "greedy"}),
              HasSubstr("A and B are both 'greedy'"));
  EXPECT_THAT(error({"--variant", "all", "greedy+random", "mcts"}),
              HasSubstr("'greedy+random' is a team; expected a single player"));
  EXPECT_THAT(error({"--variant", "all", "greedy"}),
              HasSubstr("B is required"));
  EXPECT_THAT(error({"--variant", "all", "greedy", "mctss"}),
              HasSubstr("unknown player 'mctss'"));
}

TEST(CrossPlayTest, TeamsAreRatedAmongPlayers) {
  const TaraResult result =
      RunTara({"rate", "--variant", "four_treasures_doubles", "random",
               "greedy", "random+greedy", "--games", "8", "--format=json"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(Json::parse(result.out)["players"][2]["name"], "random+greedy");
  EXPECT_THAT(ErrorOf(2, {"rate", "--variant", "four_treasures", "random",
                          "random+greedy"}),
              HasSubstr("cannot play four_treasures, where a"));
}

TEST(CrossPlayTest, TeamsOfTwoPlayInTheArena) {
  const auto play = [](const std::string& variant,
                       const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {
        "arena",  "--variant", variant, "greedy+mcts:sims=5",
        "random", "--games",   "6",     "--format=json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunTara(arguments);
  };
  const TaraResult result = play("four_treasures_doubles");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(Json::parse(result.out)[0]["games"], 8);  // whole openings
  const TaraResult singles = play("four_treasures");
  EXPECT_EQ(singles.status, 2);
  EXPECT_THAT(singles.err, HasSubstr("cannot play four_treasures, where a"));
  const TaraResult sprt = play("four_treasures_doubles", {"--sprt", "elo0=0"});
  EXPECT_EQ(sprt.status, 2);
  EXPECT_THAT(sprt.err,
              HasSubstr("a sequential test assumes independent pairs"));
}

TEST(RateTest, RatesPlayersInEveryVariant) {
  const TaraResult result = RunTara({"rate", "random", "greedy", "mcts:sims=4",
                                     "--games", "4", "--format=json"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, NoErrors());
  const Json report = Json::parse(result.out);
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
    const TaraResult result = RunTara(
        {"rate", "random", "greedy", "--variant", "four_treasures", "--games",
         games, "--store", store, "--anchor", "greedy=1000", "--format=json"});
    EXPECT_EQ(result.status, 0) << result.err;
    return Json::parse(result.out);
  };
  EXPECT_EQ(rate("8")["variants"][0]["games"], 8);
  const Json more = rate("20");
  EXPECT_EQ(more["variants"][0]["games"], 20);
  EXPECT_EQ(more["players"][1]["overall"]["elo"], 1000);
  EXPECT_EQ(rate("8"), more);  // what there is, is used
}

TEST(RateTest, ShowsATable) {
  const TaraResult result = RunTara({"rate", "random", "greedy", "--variant",
                                     "high_kings_l2", "--games", "4"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("Elo with 95 % intervals; random 0"),
                    HasSubstr("high_kings_l2"), HasSubstr("first seat")));
}

TEST(RateTest, WhatCannotBeRatedIsRefused) {
  const auto error = [](std::vector<std::string> arguments, int status) {
    arguments.insert(arguments.begin(), "rate");
    const TaraResult result = RunTara(arguments);
    EXPECT_EQ(result.status, status);
    return result.err;
  };
  EXPECT_THAT(error({"random"}, 2), HasSubstr("expected at least two"));
  EXPECT_THAT(error({"random", "nobody"}, 2),
              HasSubstr("'nobody' is not a run, checkpoint or player"));
  EXPECT_THAT(error({"random", "greedy", "--anchor", "x=0"}, 2),
              HasSubstr("no player of that name"));
  EXPECT_THAT(error({"random", "greedy", "--anchor", "greedy"}, 2),
              HasSubstr("expected NAME=ELO"));
  EXPECT_THAT(error({"random", "greedy", "--anchor", "greedy=0", "--anchor",
                     "greedy=9"},
                    2),
              HasSubstr("greedy already has a rating"));
  EXPECT_THAT(error({"random", "greedy", "--checkpoints", "every:0"}, 2),
              HasSubstr("bad --checkpoints 'every:0'"));
  EXPECT_THAT(error({"random", "net:/nowhere.pt"}, 1),
              HasSubstr("/nowhere.pt: no such file"));
  const std::string foreign = TemporaryPath("foreign.pt");
  WriteFile(foreign, "this is no network");
  EXPECT_THAT(error({"random", foreign, "--games", "2"}, 1),
              HasSubstr(foreign));
  const std::string store = TemporaryPath("foreign.db");
  WriteFile(store, "this is no results file, but notes");
  EXPECT_THAT(error({"random", "greedy", "--store", store}, 1),
              HasSubstr(store + ": not a SQLite file"));
}

TEST(RegretTest, ComparesPlayersOnTheSamePositions) {
  const std::vector<std::string> arguments = {
      "regret",      "--variant", "four_treasures",
      "--positions", "8",         "--nodes",
      "2k",          "--player",  "alphabeta:depth=40",
      "--player",    "random",    "--format=json"};
  const TaraResult result = RunTara(arguments);
  EXPECT_EQ(result.status, 0) << result.err;
  const Json rows = Json::parse(result.out);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at("positions"), 8);
  EXPECT_EQ(rows[0].at("points"), 0);
  EXPECT_EQ(rows[0].at("best"), 1);
  EXPECT_GT(rows[1].at("points"), 0);
  EXPECT_FALSE(rows[1].contains("value_error"));
  EXPECT_EQ(RunTara(arguments).out, result.out);
}

TEST(RegretTest, PrintsATableOfEveryVariant) {
  const TaraResult result =
      RunTara({"regret", "--variant", "all", "--positions", "1", "--nodes",
               "1k", "--player", "mcts:sims=5"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("points lost"), HasSubstr("stone_of_destiny")));
}

TEST(RegretTest, ATestSetIsMadeOnceAndUsedInParts) {
  const std::string set = TemporaryPath("set.jsonl");
  const auto positions = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {
        "regret", "--player",      "greedy",     "--nodes",
        "1k",     "--format=json", "--test-set", set};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const TaraResult result = RunTara(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    return Json::parse(result.out).at(0).at("positions");
  };
  EXPECT_EQ(positions({"--variant", "all", "--positions", "4"}), 4);
  EXPECT_EQ(positions({"--variant", "poisoned_chalice"}), 4);
  EXPECT_EQ(positions({"--variant", "poisoned_chalice", "--positions", "3"}),
            3);
  EXPECT_THAT(ErrorOf(1, {"regret", "--player", "greedy", "--test-set", set,
                          "--variant", "stone_of_destiny", "--option",
                          "link_all_at_end=false"}),
              AllOf(HasSubstr(set + ": no endgames of stone_of_destiny"),
                    HasSubstr("it has 4 of four_treasures, ")));
  EXPECT_THAT(ErrorOf(1, {"regret", "--player", "greedy", "--test-set", set,
                          "--variant", "stone_of_destiny", "--positions", "5"}),
              HasSubstr(set + ": 4 endgames of stone_of_destiny"));
}

TEST(RegretTest, AFileThatIsNoTestSetIsLeftAlone) {
  const std::string notes = TemporaryPath("notes.txt");
  WriteFile(notes, "these are notes\n");
  EXPECT_THAT(ErrorOf(1, {"regret", "--player", "greedy", "--test-set", notes,
                          "--variant", "stone_of_destiny"}),
              HasSubstr(notes + ":1: no file of solved endgames"));
  EXPECT_EQ(ReadFile(notes), "these are notes\n");
}

TEST(RegretTest, WrongPlayersAreTold) {
  const std::string both = TemporaryPath("both");
  EXPECT_THAT(ErrorOf(2, {"regret", "--variant", "four_treasures", "--player",
                          "greedy", "--test-set", both, "--html", both}),
              HasSubstr("is also the file of --test-set"));
  const TaraResult unknown = RunTara(
      {"regret", "--variant", "four_treasures", "--player", "stockfish"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("unknown player 'stockfish'"));
  EXPECT_THAT(ErrorOf(2, {"regret", "--variant", "four_treasures_doubles",
                          "--player", "random+greedy"}),
              HasSubstr("unknown player 'random+greedy'"));
  EXPECT_THAT(ErrorOf(1, {"regret", "--variant", "four_treasures", "--player",
                          "net:/no/such"}),
              HasSubstr("/no/such: no such file or folder"));
}

TEST(PuzzlesTest, AreGamesThatOtherCommandsRead) {
  const std::vector<std::string> arguments = {
      "puzzles", "--variant", "four_treasures", "--player", "greedy",
      "--games", "100",       "--puzzles",      "3",        "--nodes=2k"};
  const TaraResult result = RunTara(arguments);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("four_treasures: 3 puzzles, "));
  EXPECT_EQ(RunTara(arguments).out, result.out);
  const std::vector<std::string> lines =
      absl::StrSplit(result.out, '\n', absl::SkipEmpty());
  ASSERT_EQ(lines.size(), 3u);
  for (const std::string& line : lines) {
    const TaraResult shown = RunTara({"show", "--position", line});
    EXPECT_EQ(shown.status, 0) << shown.err;
  }
}

TEST(PuzzlesTest, AnInterruptKeepsTheVariantsSoFar) {
  // Nine variants more take long enough for the signal to come before the end.
  TerminalTara tara({"puzzles", "--variant", "all", "--player", "greedy",
                     "--games", "2000", "--puzzles", "2000", "--nodes=2k"});
  ASSERT_TRUE(tara.Expect("sacred_hill_l1: "));
  ASSERT_TRUE(tara.Expect("with a wrong first guess"));
  tara.Signal(SIGINT);
  EXPECT_EQ(tara.Wait(), 130);
  EXPECT_THAT(tara.shown(),
              AllOf(HasSubstr(" 0 battle "), HasSubstr("tara: interrupted")));
}

}  // namespace
}  // namespace tara::cli
