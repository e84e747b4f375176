// Players that are other programs: in all commands that take players.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/cli/tara_process.h"

namespace tara::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Json = nlohmann::json;

// An engine in tests/eval/fake_engine.cc, whose limits are beyond what a busy
// machine needs.
std::string Fake(const std::string& arguments = "") {
  return absl::StrCat("engine:tests/eval/fake_engine ", arguments,
                      ",start=300,move=300");
}

TEST(EnginePlayerTest, PlaysInTheArenaLikeAnyPlayer) {
  const TaraResult result = RunTara({"arena", "--variant", "all", Fake(),
                                     "random", "--games=2", "--format=json"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, NoErrors());
  EXPECT_THAT(result.err, Not(HasSubstr("fake")));  // its own words
  const Json report = Json::parse(result.out);
  ASSERT_EQ(report.size(), 10u);
  for (const Json& row : report) {
    EXPECT_EQ(row["games"], 2);
    EXPECT_FALSE(row.contains("forfeits"));
  }
}

TEST(EnginePlayerTest, ACrashLosesTheGameAndIsReported) {
  const std::string engine = Fake("--fault crash --after 3");
  const auto play = [&](const std::string& format) {
    return OutputOf({"arena", "--variant", "sacred_hill_l1", "random", engine,
                     "--games", "12", format});
  };
  const Json row = Json::parse(play("--format=json"))[0];
  EXPECT_EQ(row["wins"], 12);
  EXPECT_EQ(row["mean_margin"], 2);
  EXPECT_EQ(row["forfeits"]["a"], 0);
  EXPECT_EQ(row["forfeits"]["b"], 12);
  ASSERT_EQ(row["forfeits"]["games"].size(), 12u);
  EXPECT_EQ(row["forfeits"]["games"][0]["by"], "B");
  EXPECT_THAT(row["forfeits"]["games"][0]["fault"].get<std::string>(),
              HasSubstr("signal 11 (Segmentation fault)"));
  EXPECT_THAT(play("--format=text"),
              AllOf(HasSubstr("Forfeits, 12 in all (losses by 2 points):"),
                    HasSubstr("Fake 1.0: ended (signal 11"),
                    HasSubstr("... and 2 more")));
}

TEST(EnginePlayerTest, ForfeitsAreKeptInTheResultsFile) {
  const std::string store = TemporaryPath("results.db");
  const auto play = [&](const std::string& games) {
    return JsonOf({"arena", "--variant", "four_treasures",
                   Fake("--fault illegal --after 5"), "random", "--games",
                   games, "--store", store, "--threads", "1"})[0];
  };
  EXPECT_EQ(play("4")["forfeits"]["a"], 4);
  const Json more = play("6");
  EXPECT_EQ(more["games"], 6);
  EXPECT_EQ(more["forfeits"]["a"], 6);
  EXPECT_THAT(more["forfeits"]["games"][0]["fault"].get<std::string>(),
              HasSubstr("played pass, which is not legal"));
}

TEST(EnginePlayerTest, KeepsItsClock) {
  const Json row =
      JsonOf({"arena", "--variant", "four_treasures", Fake(), "random",
              "--games", "2", "--time-control", "1h+1s"})[0];
  EXPECT_GT(row["clock"]["moves_a"], 20);
  EXPECT_EQ(row["clock"]["forfeits_a"], 0);
}

TEST(EnginePlayerTest, WhatCannotBeStartedEndsTheCommand) {
  const auto error = [](const std::string& engine) {
    return ErrorOf(1,
                   {"arena", "--variant", "sacred_hill_l1", engine, "random"});
  };
  EXPECT_THAT(error("engine:/no/such/engine"),
              HasSubstr("cannot start '/no/such/engine': No such file"));
  EXPECT_THAT(error("engine:/dev/null"), HasSubstr("Permission denied"));
  EXPECT_THAT(error("engine:true"),
              HasSubstr("engine 'true' cannot be used: ended (exit status 0) "
                        "instead of answering 'protocol_version'"));
  EXPECT_THAT(error(Fake("--fault choosy")),
              HasSubstr("Fake 1.0: refused 'variant sacred_hill_l1'"));
}

TEST(EnginePlayerTest, ABadSpecIsMisuse) {
  for (const std::string spec :
       {"engine", "engine:", "engine:x,moves=3", "engine:'x"}) {
    EXPECT_THAT(
        ErrorOf(2, "arena --variant sacred_hill_l1 " + spec + " random"),
        HasSubstr("bad player spec '" + spec));
  }
}

TEST(EnginePlayerTest, IsRatedAmongOthers) {
  const TaraResult result = RunTara(
      {"rate", "--variant", "four_treasures", "random", "greedy", Fake(),
       Fake("--fault exit --after 10"), "--games", "6", "--format=json"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(Json::parse(result.out)["players"].size(), 4u);
  EXPECT_THAT(result.err, AllOf(HasSubstr("--fault exit --after 10"),
                                HasSubstr("games of four_treasures, which "
                                          "count as lost")));
}

TEST(EnginePlayerTest, PlaysItselfForTheBalance) {
  const auto study = [](const std::string& player) {
    return Words(
               "balance --variant four_treasures --games 4 --first-games 0 "
               "--threads 1 --player") +
           Words({player});
  };
  OutputOf(study(Fake()));
  // What it cannot play to the end says nothing of balance.
  const std::string report =
      OutputOf(study(Fake("--fault exit --after 60")) + "--format=json");
  EXPECT_EQ(Json::parse(report)["studies"][0]["games"], 4);
  EXPECT_THAT(ErrorOf(1, study(Fake("--fault exit --after 3"))),
              HasSubstr("was given up 3 times by its player"));
}

TEST(EnginePlayerTest, HasNoFilesOfTheProgram) {
  const std::string files = TemporaryPath("files");
  OutputOf(
      {"balance", "--variant", "four_treasures", "--player",
       absl::StrCat(Fake("--files " + files), ",log=", TemporaryPath("log")),
       "--games", "2", "--first-games", "0", "--threads", "2", "--store",
       TemporaryPath("balance.db")});
  const std::vector<std::string> lines = Lines(ReadFile(files));
  ASSERT_THAT(lines, Not(IsEmpty()));
  for (const std::string& line : lines) EXPECT_EQ(line, " 0 1 2");
}

TEST(EnginePlayerTest, PlaysItselfIntoAGameStore) {
  const std::string store = TemporaryPath("games.db");
  const auto play = [&](const std::string& games) {
    return OutputOf(
        "selfplay --variant all --player "
        "engine:tests/eval/fake_engine,start=300,move=300 --games " +
        games + " -o " + store);
  };
  play("1");
  EXPECT_THAT(play("2"), HasSubstr("10 games played"));
  const std::string lines = TemporaryPath("games.jsonl");
  OutputOf("games export " + store + " -o " + lines);
  EXPECT_EQ(OutputOf("verify " + lines), "20 passed, 0 failed\n");
}

TEST(EnginePlayerTest, PlayersWithOpinionsPlayThemselvesIntoAGameStore) {
  const std::string store = TemporaryPath("games.db");
  OutputOf("selfplay --variant all --player mcts:sims=5 --games 2 -o " + store);
  const std::string lines = TemporaryPath("games.jsonl");
  OutputOf("games export " + store + " -o " + lines);
  EXPECT_EQ(OutputOf("verify " + lines), "20 passed, 0 failed\n");
  EXPECT_THAT(
      ErrorOf(2, "selfplay --variant all --player mcts:x=1 -o " + store),
      HasSubstr("bad player spec 'mcts:x=1'"));
}

TEST(EnginePlayerTest, IsAnOpponentInTheTerminal) {
  const auto play = [](const std::string& opponent, const char* lines) {
    return OutputOf({"play", "--variant", "four_treasures", "--ascii",
                     "--opponent", opponent},
                    lines);
  };
  EXPECT_THAT(play(Fake(), "D4\nundo\nE4\nquit\n"),
              AllOf(HasSubstr("Blue plays"), HasSubstr("Undone:")));
  EXPECT_THAT(play(Fake("--fault crash"), "D4\nE4\n"),
              AllOf(HasSubstr("Blue forfeits (Fake 1.0: ended (signal 11 "
                              "(Segmentation fault))"),
                    HasSubstr("Red wins.")));
}

// Tara is an engine itself.
TEST(EnginePlayerTest, TaraPlaysTara) {
  const Json row =
      JsonOf({"arena", "--variant", "sacred_hill_l1",
              "engine:tara/cli/tara engine --search sims=20,start=300,move=300",
              "random", "--games", "4"})[0];
  EXPECT_EQ(row["games"], 4);
  EXPECT_FALSE(row.contains("forfeits")) << row["forfeits"];
}

}  // namespace
}  // namespace tara::cli
