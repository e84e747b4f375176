#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "tests/cli/tara_process.h"

namespace tara::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Json = nlohmann::json;

// The arguments of a study that takes no time, and others.
Words With(const Words& others) {
  return "balance --games 6 --first-games 1" + others;
}

Json BalanceJson(const Words& others) {
  const TaraResult result = RunTara(With(others) + "--format=json");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, StartsWith("tara: at most "));
  return Json::parse(result.out);
}

TEST(BalanceTest, StudiesEveryVariant) {
  EXPECT_THAT(OutputOf(With("--variant all --player mcts:sims=2")),
              AllOf(StartsWith("Sacred Hill, Level 1\n- "),
                    HasSubstr("score of the first side"),
                    HasSubstr("stone_of_destiny")));
}

TEST(BalanceTest, ThreadsMakeNoDifference) {
  const auto play = [](const std::string& threads, const std::string& seed) {
    return BalanceJson(
        "--variant four_treasures --player mcts:sims=4 --threads " + threads +
        " --seed " + seed);
  };
  EXPECT_EQ(play("1", "3"), play("3", "3"));
  EXPECT_NE(play("3", "3"), play("3", "4"));
}

TEST(BalanceTest, ComparesBudgetsPlayersAndRules) {
  const Json json = BalanceJson(
      "--variant stone_of_destiny --player mcts:graph=on "
      "--sims 2,3 --what-if link_all_at_end=false");
  ASSERT_EQ(json.at("studies").size(), 2u);
  EXPECT_EQ(json["studies"][0]["spec"], "mcts:graph=on,sims=2");
  EXPECT_EQ(json["studies"][1]["simulations"], 3);
  ASSERT_EQ(json.at("what_if").size(), 2u);
  EXPECT_EQ(json["what_if"][1]["spec"], "mcts:graph=on,sims=3");
  EXPECT_EQ(json["what_if"][1]["change"], "link_all_at_end=false");
  EXPECT_EQ(json["what_if"][1]["games"], 6);
}

TEST(BalanceTest, PlayersWithoutAPolicyBeginAtRandom) {
  const Json json = BalanceJson(
      "--variant four_treasures --player alphabeta:depth=1 --player greedy");
  ASSERT_EQ(json.at("studies").size(), 2u);
  EXPECT_EQ(json["studies"][1]["distinct_games"], 6);
  EXPECT_TRUE(json["courses"][0].contains("lead_changes"));
  EXPECT_FALSE(json["courses"][1].contains("lead_changes"));
}

TEST(BalanceTest, ResumesFromItsStore) {
  const std::string store = TemporaryPath("games.db");
  const auto study = [&](const std::string& simulations) {
    return With("--variant four_treasures --player mcts:sims=" + simulations +
                " --format=json --store " + store);
  };
  const TaraResult first = RunTara(study("3"));
  EXPECT_EQ(first.status, 0) << first.err;
  const std::string games = OutputOf("games list " + store);
  // 6 games, and one with each of 9 first actions, in pairs.
  EXPECT_THAT(games, HasSubstr("16 of 16 games"));
  // The first side's score is not mixed with that of games that were made to
  // begin as they did.
  const Json stats = JsonOf("games stats " + store);
  ASSERT_EQ(stats.size(), 2u);
  EXPECT_EQ(stats[0]["purpose"], "first_actions");
  EXPECT_EQ(stats[1]["purpose"], "games");
  EXPECT_EQ(stats[1]["games"], 6);
  EXPECT_EQ(stats[1]["red_score"],
            Json::parse(first.out)["studies"][0]["first_side_score"]);
  EXPECT_EQ(RunTara(study("3")).out, first.out);
  EXPECT_EQ(OutputOf("games list " + store), games);
  OutputOf({"games", "export", store, "-o", TemporaryPath("lines")});
  // Games of others are kept, and it says so.
  const TaraResult mixed = RunTara(study("4"));
  EXPECT_THAT(mixed.err, AllOf(HasSubstr("also has games of mcts:sims=3 with "),
                               HasSubstr("which are kept and do not count")));
  EXPECT_EQ(Json::parse(mixed.out)["studies"][0]["games"], 6);
  EXPECT_THAT(OutputOf("games list " + store), HasSubstr("32 games"));
  WriteFile(store, "{\"a\": 1}\n");
  EXPECT_THAT(ErrorOf(1, study("3")), HasSubstr(store + ": not a SQLite file"));
}

TEST(BalanceTest, AnInterruptReportsTheGamesSoFarAndLosesNone) {
  const std::string store = TemporaryPath("interrupted.db");
  TerminalTara tara(
      "balance --variant all --player mcts:sims=50 --games 1000000 --store " +
      store);
  ASSERT_TRUE(tara.Expect("sacred_hill_l1, mcts:sims=50, games"));
  ASSERT_TRUE(tara.Expect("games/s"));
  const auto listed = [&] { return OutputOf("games list " + store); };
  while (!absl::StrContains(listed(), "mcts:sims=50")) {
    absl::SleepFor(absl::Milliseconds(50));
  }
  tara.Signal(SIGINT);
  EXPECT_EQ(tara.Wait(), 130);
  EXPECT_THAT(tara.shown(),
              AllOf(HasSubstr("tara: interrupted"), HasSubstr("resumes from")));
  EXPECT_THAT(listed(), HasSubstr("mcts:sims=50"));
}

TEST(BalanceTest, FindsWhatMakesAVariantFair) {
  const std::string page = TemporaryPath("fair.html");
  const Json json = BalanceJson(
      "--variant stone_of_destiny --player mcts:sims=3 --fair --restricted "
      "--html " +
      page);
  ASSERT_EQ(json.at("compensations").size(), 1u);
  EXPECT_EQ(json["compensations"][0]["fresh_games"], 6);
  EXPECT_EQ(json.at("ladder").size(), 9u);
  ASSERT_EQ(json.at("pie_rule").size(), 1u);
  EXPECT_TRUE(json["pie_rule"][0].contains("chooser_score"));
  EXPECT_FALSE(json.at("restricted").empty());
  EXPECT_THAT(ReadFile(page),
              AllOf(HasSubstr("<!DOCTYPE html>"), HasSubstr("Stone of Destiny"),
                    HasSubstr("<i style=\"--")));
  const Json doubles =
      BalanceJson("--variant four_treasures_doubles --player greedy --fair");
  EXPECT_FALSE(doubles.contains("pie_rule"));
  EXPECT_EQ(doubles.at("seats").size(), 4u);
}

TEST(BalanceTest, TheDepthOfSkillIsMeasuredFromTheFirstBudget) {
  const Json json =
      BalanceJson("--variant four_treasures --player mcts --sims 2 --depth 4");
  ASSERT_EQ(json.at("depth").size(), 1u);
  EXPECT_EQ(json["depth"][0]["simulations"], 4);
}

// A study as designers describe it.
constexpr char kStudy[] = R"(
  variant: "four_treasures"
  player: "mcts"
  drawn_plies: 6
  ladder_points: 0.5
  size {
    name: "small"
    budget { simulations: 2 games: 6 ladder_games: 4 pie_games: 4 }
  }
  size { name: "large" budget { simulations: 4 games: 8 } }
)";

TEST(BalanceTest, AFileDescribesAStudyInSizes) {
  const std::string file = TemporaryPath("study.textproto");
  WriteFile(file, kStudy);
  const auto run = [&](const Words& others) {
    return RunTara("balance --format=json --study " + file + others);
  };
  const Json small = Json::parse(run({}).out);
  EXPECT_EQ(small["studies"][0]["games"], 6);
  EXPECT_EQ(small["ladder"].size(), 2u);
  const Json large = Json::parse(run("--size large").out);
  EXPECT_EQ(large["studies"][0]["games"], 8);
  EXPECT_FALSE(large.contains("ladder"));
  EXPECT_THAT(run("--size huge").err,
              HasSubstr("--size huge: expected small, large"));
  EXPECT_THAT(run("--games 5").err, HasSubstr(file + " describes the study"));
  WriteFile(file, std::string(kStudy) + "gamse: 5");
  EXPECT_THAT(run({}).err, AllOf(HasSubstr(file + ":11:"),
                                 HasSubstr("a study of balance has no field "
                                           "'gamse'; it has: variant, ")));
  WriteFile(file, "variant: \"all\" size { name: \"x\" budget { games: 9 } }");
  EXPECT_THAT(run({}).err, HasSubstr(file + ": player is missing"));
  EXPECT_EQ(run({}).status, 2);
}

TEST(BalanceTest, ANetworkPlaysOnlyTheRulesThatItHasLearned) {
  const std::string file = TemporaryPath("learned.textproto");
  // The witness has learned Sacred Hill without options.
  WriteFile(file, R"(
    variant: "sacred_hill_l1"
    player: "net:tests/nn/witness/bundle.tara"
    what_if: "last_turns=false"
    size { name: "x" budget { simulations: 2 games: 4 ladder_games: 4
                              pie_games: 4 option_games: 4 } })");
  // Notes are broken into lines.
  EXPECT_THAT(
      absl::StrReplaceAll(OutputOf("balance --study " + file), {{"\n", " "}}),
      AllOf(HasSubstr("Not learned by net:tests/nn/witness/bundle.tara, "
                      "so left out: compensation="),
            HasSubstr("; last_turns=false; the pie rule.")));
}

TEST(BalanceTest, WrongArgumentsAreTold) {
  ExpectRefused(
      With({}),
      {
          {"--variant all", "--player is required without --study"},
          {"--player greedy", "--variant is required without --study"},
          {"--variant chess --player greedy", "unknown variant 'chess'"},
          {"--variant all --player stockfish", "unknown player 'stockfish'"},
          {"--variant all --player mcts:ponder=on", "has no opponent"},
          {"--variant all --player greedy --sims 5",
           "player 'greedy' has no simulations"},
          {"--variant all --player mcts --sims 5,x",
           "'x' is not a number of simulations"},
          {"--variant four_treasures --player greedy --what-if "
           "no_progress_limit=3",
           "no rule option 'no_progress_limit'"},
          {"--variant all --player greedy --what-if no_progress_limit=40",
           "changes nothing"},
          {"--variant all --player greedy --what-if x=1", "no rule option 'x'"},
          {"--variant four_treasures --player greedy --what-if last_turns",
           "--what-if: 'last_turns'; expected NAME=VALUE"},
          {"--variant four_treasures --player greedy --what-if "
           "compensation=1 --what-if compensation=1.0",
           "--what-if compensation=1.0: these rules are given twice"},
          {"--variant four_treasures --player greedy --player greedy",
           "player greedy is given twice"},
          {"--variant four_treasures --player mcts:sims=5 --sims 5,5",
           "simulations 5 are given twice"},
          {"--variant all --player mcts --depth 8", "--depth requires --sims"},
          {"--variant all --player mcts --size x", "--size requires --study"},
          {"--variant all --player net:/no/such/run",
           "/no/such/run: no such file or folder", 1},
          {"--variant all --player greedy --html /no/such/folder/x.html",
           "cannot write", 1},
          {"--variant all --player greedy --store /no/such/folder/x",
           "no such folder", 1},
      });
}

}  // namespace
}  // namespace tara::cli
