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
using Json = nlohmann::json;

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

TEST(RateTest, WritesAPage) {
  const std::string path = TemporaryPath("rate.html");
  const TaraResult result =
      RunTara({"rate", "random", "greedy", "--variant", "four_treasures",
               "--games", "4", "--html", path});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(ReadFile(path),
              AllOf(HasSubstr("<!DOCTYPE html>"), HasSubstr("Four Treasures"),
                    HasSubstr("<figure")));
  const std::string nowhere = TemporaryPath("missing") + "/rate.html";
  const TaraResult refused = RunTara(
      {"rate", "random", "greedy", "--games", "100000", "--html", nowhere});
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, AllOf(HasSubstr(nowhere), HasSubstr("cannot")));
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

}  // namespace
}  // namespace tara::cli
