#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/tara_process.h"

namespace tara::cli {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using Json = nlohmann::json;

// The arguments of a study that takes no time, and others.
std::vector<std::string> With(const std::vector<std::string>& others) {
  std::vector<std::string> arguments = {
      "balance", "--games", "6", "--first-games", "1", "--pie-games", "2"};
  arguments.insert(arguments.end(), others.begin(), others.end());
  return arguments;
}

Json BalanceJson(std::vector<std::string> others) {
  others.push_back("--format=json");
  const TaraResult result = RunTara(With(others));
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, NoErrors());
  return Json::parse(result.out);
}

TEST(BalanceTest, StudiesEveryVariant) {
  const TaraResult result =
      RunTara(With({"--variant", "all", "--player", "mcts:sims=2"}));
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("is it fair?"), HasSubstr("stone_of_destiny")));
}

TEST(BalanceTest, ThreadsMakeNoDifference) {
  const auto play = [](const std::string& threads, const std::string& seed) {
    return BalanceJson({"--variant", "four_treasures", "--player",
                        "mcts:sims=4", "--threads", threads, "--seed", seed});
  };
  EXPECT_EQ(play("1", "3"), play("3", "3"));
  EXPECT_NE(play("3", "3"), play("3", "4"));
}

TEST(BalanceTest, ComparesBudgetsPlayersAndRules) {
  const Json json = BalanceJson({"--variant", "stone_of_destiny", "--player",
                                 "mcts:sims=9,graph=on", "--sims", "2,3",
                                 "--what-if", "link_all_at_end=false"});
  ASSERT_EQ(json.at("studies").size(), 4u);
  EXPECT_EQ(json["studies"][0]["player"], "mcts:graph=on,sims=2");
  EXPECT_EQ(json["studies"][3]["player"], "mcts:graph=on,sims=3");
  EXPECT_EQ(json["studies"][3]["changed"], "link_all_at_end=false");
  ASSERT_EQ(json.at("what_if").size(), 2u);
  EXPECT_EQ(json["what_if"][1]["player"], "mcts:graph=on,sims=3");
  EXPECT_EQ(json["what_if"][1]["games"], 6);
}

TEST(BalanceTest, PlayersWithoutAPolicyBeginAtRandom) {
  const Json json = BalanceJson({"--variant", "four_treasures", "--player",
                                 "alphabeta:depth=1", "--player", "greedy"});
  EXPECT_EQ(json["studies"][0]["opening_plies"], 2);
  EXPECT_TRUE(json["studies"][0].contains("drama"));
  EXPECT_FALSE(json["studies"][1].contains("drama"));
}

TEST(BalanceTest, GoesOnFromItsStore) {
  const std::string store = TemporaryPath("games.db");
  const std::vector<std::string> study = {
      "--variant",     "four_treasures", "--player", "mcts:sims=3",
      "--format=json", "--store",        store};
  const TaraResult first = RunTara(With(study));
  EXPECT_EQ(first.status, 0) << first.err;
  const std::string games = RunTara({"games", "list", store}).out;
  // 6 games, 1 of each of 9 first actions, 2 of the fairest.
  EXPECT_THAT(games, HasSubstr("17 of 17 games"));
  // Nor is the first side's score of the six mixed with those of games that
  // were made to begin as they did.
  const Json stats =
      Json::parse(RunTara({"games", "stats", store, "--format=json"}).out);
  ASSERT_EQ(stats.size(), 2u);
  EXPECT_EQ(stats[0]["purpose"], "");
  EXPECT_EQ(stats[0]["games"], 6);
  EXPECT_EQ(stats[0]["red_score"],
            Json::parse(first.out)["studies"][0]["first_side_score"]);
  EXPECT_EQ(stats[1]["purpose"], "made to begin with each first action");
  EXPECT_EQ(stats[1]["games"], 11);
  EXPECT_THAT(RunTara({"games", "stats", store}).out,
              ContainsRegex("four_treasures  made to begin with each first "
                            "action +11 "));
  const TaraResult again = RunTara(With(study));
  EXPECT_EQ(again.out, first.out);
  EXPECT_EQ(RunTara({"games", "list", store}).out, games);
  EXPECT_EQ(
      RunTara({"games", "export", store, "-o", TemporaryPath("lines")}).status,
      0);
  const std::string good = ReadFile(store);
  WriteFile(store, good.substr(0, good.size() / 2));
  const TaraResult damaged = RunTara(With(study));
  EXPECT_EQ(damaged.status, 1);
  EXPECT_THAT(damaged.err, HasSubstr(store + ": "));
  WriteFile(store, "{\"a\": 1}\n");
  EXPECT_THAT(RunTara(With(study)).err,
              HasSubstr(store + ": not a SQLite file"));
}

TEST(BalanceTest, AnInterruptReportsTheGamesSoFarAndLosesNone) {
  const std::string store = TemporaryPath("interrupted.db");
  TerminalTara tara({"balance", "--variant", "all", "--player", "mcts:sims=50",
                     "--games", "1000000", "--store", store});
  ASSERT_TRUE(tara.Expect("sacred_hill_l1 mcts:sims=50"));
  ASSERT_TRUE(tara.Expect("games/s"));
  ASSERT_TRUE(tara.Expect("left"));
  tara.Signal(SIGINT);
  EXPECT_EQ(tara.Wait(), 130);
  EXPECT_THAT(tara.shown(),
              AllOf(HasSubstr("tara: interrupted"), HasSubstr("goes on from")));
  EXPECT_THAT(RunTara({"games", "list", store}).out, HasSubstr("mcts:sims=50"));
}

TEST(BalanceTest, AReportBeginsWithItsVerdict) {
  const TaraResult text =
      RunTara(With({"--variant", "high_kings_l1", "--player", "mcts:sims=2"}));
  EXPECT_THAT(text.out, StartsWith("high_kings_l1, mcts:sims=2:\n  "));
  const Json json =
      BalanceJson({"--variant", "high_kings_l1", "--player", "mcts:sims=2",
                   "--what-if", "no_progress_limit=20"});
  ASSERT_EQ(json.at("verdicts").size(), 1u);
  EXPECT_EQ(json["verdicts"][0]["variant"], "high_kings_l1");
  EXPECT_THAT(json["verdicts"][0]["text"].get<std::string>(),
              AllOf(HasSubstr("the first scores "),
                    HasSubstr("With no_progress_limit=20 ")));
  EXPECT_FALSE(json.contains("fair"));
}

TEST(BalanceTest, FindsWhatMakesAVariantFair) {
  const std::string page = TemporaryPath("fair.html");
  const std::vector<std::string> study = {"--variant",
                                          "stone_of_destiny",
                                          "--player",
                                          "mcts:sims=3",
                                          "--fair",
                                          "--fair-games",
                                          "24",
                                          "--html",
                                          page,
                                          "--what-if",
                                          "link_all_at_end=false"};
  const Json json = BalanceJson(study);
  // Compensation, pie rule and both; with the change, either of the two.
  ASSERT_EQ(json.at("fair").size(), 5u);
  ASSERT_EQ(json.at("openings").size(), 1u);
  for (const Json& each : json["fair"]) {
    EXPECT_EQ(each.at("fresh_games"), 24);
    EXPECT_EQ(each.at("temperature"), json["openings"][0].at("temperature"));
    const bool pie = each.at("rule_options").at("pie_rule");
    EXPECT_EQ(each.contains("chooser_score"), pie);
    if (!each.contains("compensation")) continue;
    EXPECT_EQ(each.at("rule_options").at("compensation"),
              each.at("compensation"));
    EXPECT_LE(each.at("search_games"), 24);
  }
  EXPECT_EQ(json["fair"][0]["instead_of"], "");
  EXPECT_EQ(json["fair"][2]["rule_options"]["pie_rule"], true);
  EXPECT_EQ(json["fair"][4]["instead_of"], "link_all_at_end=false");
  const std::string verdict = json["verdicts"][0]["text"];
  EXPECT_THAT(verdict, AllOf(HasSubstr("he pie rule"), HasSubstr("24 fresh"),
                             HasSubstr("which by its own search costs")));
  EXPECT_THAT(ReadFile(page), HasSubstr("24 fresh games"));
  std::vector<std::string> text = study;
  EXPECT_THAT(RunTara(With(text)).out, HasSubstr("what makes it fair"));
}

TEST(BalanceTest, FairnessInFourSeatsAndWithoutAPolicy) {
  const Json json =
      BalanceJson({"--variant", "four_treasures_doubles", "--player", "greedy",
                   "--fair", "--fair-games", "8"});
  ASSERT_EQ(json.at("fair").size(), 1u);
  EXPECT_FALSE(json["openings"][0].contains("first_side_cost"));
  EXPECT_THAT(
      json["verdicts"][0]["text"].get<std::string>(),
      AllOf(HasSubstr("The pie rule is for two seats"),
            HasSubstr("What the openings cost the sides is not known")));
}

TEST(BalanceTest, FairnessGoesOnAfterItWasKilled) {
  const auto study = [](const std::string& store) {
    return std::vector<std::string>{
        "balance",      "--variant",     "poisoned_chalice",
        "--player",     "mcts:sims=30",  "--games",
        "10",           "--first-games", "0",
        "--fair",       "--fair-games",  "40",
        "--store",      store,           "--threads=1",
        "--format=json"};
  };
  const TaraResult whole = RunTara(study(TemporaryPath("whole.db")));
  ASSERT_EQ(whole.status, 0) << whole.err;
  const std::string store = TemporaryPath("killed.db");
  for (const int signal : {SIGKILL, SIGINT}) {
    TerminalTara tara(study(store));
    // The pilot is over; some search, or fresh games, have begun. Or all is
    // over before a line of progress was due.
    tara.Expect(signal == SIGKILL ? "search, " : "fresh games, ");
    tara.Signal(signal);
    tara.Wait();
  }
  const TaraResult resumed = RunTara(study(store));
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(resumed.out, whole.out);
}

TEST(BalanceTest, WritesAPageForABrowser) {
  const std::string path = TemporaryPath("balance.html");
  const TaraResult result = RunTara(With(
      {"--variant", "poisoned_chalice", "--player", "greedy", "--html", path}));
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(ReadFile(path),
              AllOf(HasSubstr("<!DOCTYPE html>"), HasSubstr("Poisoned Chalice"),
                    HasSubstr("Chart.js")));
}

TEST(BalanceTest, WrongArgumentsAreTold) {
  struct Wrong {
    std::vector<std::string> arguments;
    std::string message;
    int status = 2;
  };
  for (const Wrong& wrong : {
           Wrong{{"--variant", "all"}, "--player is required"},
           Wrong{{"--player", "greedy"}, "--variant is required"},
           Wrong{{"--variant", "chess", "--player", "greedy"},
                 "unknown variant 'chess'"},
           Wrong{{"--variant", "all", "--player", "stockfish"},
                 "unknown player 'stockfish'"},
           Wrong{{"--variant", "all", "--player", "mcts:ponder=on"},
                 "has no opponent"},
           Wrong{{"--variant", "all", "--player", "greedy", "--sims", "5"},
                 "player 'greedy' has no simulations"},
           Wrong{{"--variant", "all", "--player", "mcts", "--sims", "5,x"},
                 "'x' is no number of simulations"},
           Wrong{{"--variant", "four_treasures", "--player", "greedy",
                  "--what-if", "no_progress_limit=3"},
                 "no rule option 'no_progress_limit'"},
           Wrong{{"--variant", "all", "--player", "greedy", "--what-if",
                  "no_progress_limit=40"},
                 "changes nothing"},
           Wrong{{"--variant", "all", "--player", "greedy", "--what-if", "x=1"},
                 "no rule option 'x'"},
           Wrong{{"--variant", "all", "--player", "greedy", "--fair",
                  "--what-if", "compensation=2"},
                 "--fair tries compensation and pie_rule itself; expected it "
                 "without --what-if compensation=2"},
           Wrong{{"--variant", "all", "--player", "greedy", "--fair",
                  "--option", "pie_rule=true"},
                 "without --option pie_rule=true"},
           Wrong{{"--variant", "all", "--player", "greedy", "--fair",
                  "--fair-games", "0"},
                 "--fair-games"},
           Wrong{
               {"--variant", "all", "--player", "greedy", "--fair-games", "9"},
               "--fair-games requires --fair"},
           Wrong{{"--variant", "four_treasures", "--player", "greedy",
                  "--what-if", "last_turns"},
                 "--what-if: 'last_turns'; expected NAME=VALUE"},
           Wrong{
               {"--variant", "four_treasures", "--player", "greedy",
                "--what-if", "compensation=1", "--what-if", "compensation=1.0"},
               "--what-if compensation=1.0: these rules are given twice"},
           Wrong{{"--variant", "four_treasures", "--player", "greedy",
                  "--player", "greedy"},
                 "--player greedy: plays as greedy does"},
           Wrong{{"--variant", "four_treasures", "--player", "mcts:sims=5",
                  "--sims", "5,5"},
                 "expected each player once"},
           Wrong{{"--variant", "all", "--player", "greedy", "--precision", "0"},
                 "--precision"},
           Wrong{{"--variant", "all", "--player", "net:/no/such/run"},
                 "/no/such/run: no such file or folder",
                 1},
           Wrong{{"--variant", "all", "--player", "greedy", "--html",
                  "/no/such/folder/x.html"},
                 "cannot write",
                 1},
           Wrong{{"--variant", "all", "--player", "greedy", "--store",
                  "/no/such/folder/x"},
                 "no such folder",
                 1},
       }) {
    const TaraResult result = RunTara(With(wrong.arguments));
    EXPECT_EQ(result.status, wrong.status) << wrong.message << result.err;
    EXPECT_THAT(result.err, HasSubstr(wrong.message));
    EXPECT_THAT(result.out, IsEmpty());
  }
}

}  // namespace
}  // namespace tara::cli
