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
  const TaraResult singles = RunTara(
      {"rate", "--variant", "four_treasures", "random", "random+greedy"});
  EXPECT_EQ(singles.status, 2);
  EXPECT_THAT(singles.err, HasSubstr("cannot play four_treasures, where a"));
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

}  // namespace
}  // namespace tara::cli
