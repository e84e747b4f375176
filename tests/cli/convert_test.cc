// What an earlier program kept games in (tests/cli/witness/README.md).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/tara_process.h"

namespace tara::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Json = nlohmann::json;

std::string Witness(const std::string& name) {
  return "tests/cli/witness/" + name;
}

// Returns a copy, which can be written to.
std::string CopyOf(const std::string& name) {
  const std::string copy = TemporaryPath(name);
  WriteFile(copy, ReadFile(Witness(name)));
  return copy;
}

// Returns a game store made of the file.
std::string Converted(const std::string& name) {
  const std::string store = TemporaryPath("converted.db");
  const TaraResult result = RunTara({"convert", CopyOf(name), store});
  EXPECT_EQ(result.status, 0) << result.err;
  return store;
}

// Takes the intervals out of both of which the ends were one: of few games they
// are not known any more.
void LeaveOutPoints(Json& expected, Json& report) {
  if (!expected.is_structured()) return;
  for (const auto& [key, value] : Json(expected).items()) {
    const std::string name = key.substr(0, key.rfind("_low"));
    if (expected.is_object() && name + "_low" == key &&
        value == expected[name + "_high"]) {
      for (const std::string end : {"_low", "_high"}) {
        expected.erase(name + end);
        report.erase(name + end);
      }
    } else if (expected.is_array()) {
      const size_t i = std::stoul(key);
      LeaveOutPoints(expected.at(i), report.at(i));
    } else if (expected.contains(key)) {
      LeaveOutPoints(expected.at(key), report.at(key));
    }
  }
}

// Runs a command, which all of whose games the store has.
std::string Report(std::vector<std::string> command, const std::string& store) {
  command.insert(command.end(), {"--format=json", "--store", store});
  const TaraResult result = RunTara(command);
  EXPECT_EQ(result.status, 0) << result.err;
  return result.out;
}

TEST(ConvertTest, CommandsReportTheGamesOfResultsFilesAsBefore) {
  const std::string store = Converted("results.db");
  const std::string games = RunTara({"games", "list", store}).out;
  EXPECT_THAT(games, HasSubstr("18 of 18 games"));
  const auto report_of = [&](const std::vector<std::string>& command) {
    return Json::parse(Report(command, store));
  };
  const auto witness = [](const std::string& name) {
    return Json::parse(ReadFile(Witness(name)));
  };
  // Fields that came later: without actions each game counts as different.
  Json report = report_of({"arena", "--variant", "four_treasures", "--by-match",
                           "mcts:sims=2", "random", "--games", "4"});
  Json expected = witness("matches.json");
  expected[0]["distinct_games"] = 4;
  // Intervals of the games of matches are over pairs of matches since, of which
  // there is one.
  for (const char* const name :
       {"score_low", "score_high", "elo_low", "elo_high"}) {
    expected[0][name] = expected[0]["by_match"][name];
  }
  expected[0]["mean_margin_low"] = expected[0]["mean_margin_high"] = nullptr;
  EXPECT_EQ(report, expected);
  report = report_of({"arena", "--variant", "sacred_hill_l1", "--time-control",
                      "10ms/move", "mcts", "alphabeta", "--games", "2"});
  expected = witness("clocks.json");
  expected[0]["distinct_games"] = 2;
  EXPECT_EQ(report, expected);
  report = report_of({"rate", "random", "greedy", "--variant", "high_kings_l1",
                      "--option", "no_progress_limit=20", "--games", "4"});
  expected = witness("rate.json");
  expected["variants"][0]["distinct_games"] = expected["variants"][0]["games"];
  EXPECT_EQ(report, expected);
  EXPECT_EQ(RunTara({"games", "list", store}).out, games) << "none was played";
}

TEST(ConvertTest, GamesOfResultsFilesHaveNoActionsButAreCounted) {
  const std::string store = Converted("results.db");
  EXPECT_THAT(
      RunTara({"games", "stats", store}).out,
      AllOf(HasSubstr("four_treasures: 10 games"),
            HasSubstr("high_kings_l1 with no_progress_limit=20: 4 games"),
            HasSubstr("ended by   fault 2"), HasSubstr("time 2")));
  const TaraResult shown = RunTara({"games", "show", store, "1"});
  EXPECT_EQ(shown.status, 1);
  EXPECT_THAT(shown.err, HasSubstr("game 1: its actions were not kept"));
  EXPECT_THAT(RunTara({"games", "export", store}).err,
              HasSubstr("or their actions not kept: 18"));
}

TEST(ConvertTest, AStudyOfBalanceIsReportedAsBeforeAndItsGamesAreShown) {
  const std::string store = Converted("balance.jsonl");
  const std::string games = RunTara({"games", "list", store}).out;
  Json report = Json::parse(Report(
      {"balance", "--variant", "four_treasures", "--player", "mcts:sims=4",
       "--games", "2", "--first-games", "1", "--pie-games", "1"},
      store));
  // Rule options that came later, at their defaults.
  auto& options = report.at("studies").at(0).at("rule_options");
  for (const char* name :
       {"compensation", "pie_rule", "free_capture", "last_turns",
        "territory_breaks_ties", "opening_distance"}) {
    EXPECT_EQ(options.erase(name), 1u) << name;
  }
  // Sentences that came later.
  EXPECT_EQ(report.erase("verdicts"), 1u);
  Json expected = Json::parse(ReadFile(Witness("balance.json")));
  LeaveOutPoints(expected, report);
  EXPECT_EQ(report, expected);
  EXPECT_EQ(RunTara({"games", "list", store}).out, games) << "none was played";
  EXPECT_EQ(RunTara({"games", "show", store, "1"}).status, 0);
  const TaraResult exported = RunTara({"games", "export", store});
  EXPECT_EQ(RunTara({"verify", "-"}, exported.out).out,
            "18 passed, 0 failed\n");
}

TEST(ConvertTest, AGameStoreGoesOn) {
  const std::string store = CopyOf("games.db");
  EXPECT_THAT(RunTara({"games", "list", store}).out, HasSubstr("2 of 2 games"));
  EXPECT_THAT(RunTara({"selfplay", "--variant", "four_treasures", "--games",
                       "3", "--sims", "2", "-o", store})
                  .out,
              HasSubstr("1 games played"));
  EXPECT_EQ(RunTara({"games", "show", store, "0"}).status, 0);
}

TEST(ConvertTest, CommandsNameWhatMakesAGameStore) {
  for (const std::string name : {"results.db", "balance.jsonl"}) {
    const std::string old = CopyOf(name);
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"games", "list", old},
          {"arena", "--variant", "all", "random", "greedy", "--store", old},
          {"balance", "--variant", "all", "--player", "random", "--store",
           old}}) {
      const TaraResult result = RunTara(command);
      EXPECT_EQ(result.status, 1);
      EXPECT_THAT(result.err,
                  AllOf(HasSubstr("of an older version"),
                        HasSubstr("`tara convert " + old + " NEW`")));
    }
    EXPECT_EQ(ReadFile(old), ReadFile(Witness(name)));
  }
}

TEST(ConvertTest, WhatCannotBeConvertedIsRefused) {
  const auto error = [](const std::string& from, const std::string& to) {
    const TaraResult result = RunTara({"convert", from, to});
    EXPECT_EQ(result.status, 1);
    EXPECT_THAT(result.out, IsEmpty());
    return result.err;
  };
  const std::string there = CopyOf("games.db");
  EXPECT_THAT(error(Witness("results.db"), there),
              HasSubstr(there + ": there is such a file"));
  const std::string to = TemporaryPath("new.db");
  EXPECT_THAT(error(there, to), HasSubstr(there + ": expected a results file"));
  EXPECT_THAT(error(TemporaryPath("none"), to), HasSubstr("no such file"));
  const std::string results = ReadFile(Witness("results.db"));
  const std::string damaged = TemporaryPath("damaged");
  WriteFile(damaged, results.substr(0, results.size() / 2));
  EXPECT_THAT(error(damaged, to), HasSubstr(damaged + ": "));
  const std::string study = ReadFile(Witness("balance.jsonl"));
  WriteFile(damaged, study + "nonsense\n");
  EXPECT_THAT(error(damaged, to),
              AllOf(HasSubstr(damaged + ": line "), HasSubstr("is damaged")));
  WriteFile(damaged, study +
                         R"({"game":9,"study":0,"actions":"Z9","red":[0],)"
                         R"("nats":[]})" +
                         "\n");
  EXPECT_THAT(error(damaged, to), HasSubstr("Z9"));
  // A last line without its end, which a crash leaves.
  WriteFile(damaged, study + "{\"game\": 3, \"stu");
  EXPECT_EQ(RunTara({"convert", damaged, to}).status, 0);
}

}  // namespace
}  // namespace tara::cli
