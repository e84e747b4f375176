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
  const TaraResult result =
      RunTara({"arena", "--variant", "all", Fake(), "random", "--games", "2",
               "--format=json"});
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
    return RunTara({"arena", "--variant", "sacred_hill_l1", "random", engine,
                    "--games", "12", format});
  };
  const TaraResult json = play("--format=json");
  ASSERT_EQ(json.status, 0) << json.err;
  const Json row = Json::parse(json.out)[0];
  EXPECT_EQ(row["wins"], 12);
  EXPECT_EQ(row["mean_margin"], 2);
  EXPECT_EQ(row["forfeits"]["a"], 0);
  EXPECT_EQ(row["forfeits"]["b"], 12);
  ASSERT_EQ(row["forfeits"]["games"].size(), 12u);
  EXPECT_EQ(row["forfeits"]["games"][0]["by"], "B");
  EXPECT_THAT(row["forfeits"]["games"][0]["fault"].get<std::string>(),
              HasSubstr("signal 11 (Segmentation fault)"));
  EXPECT_THAT(play("--format=text").out,
              AllOf(HasSubstr("Forfeits, 12 in all (losses by 2 points):"),
                    HasSubstr("Fake 1.0: ended (signal 11"),
                    HasSubstr("... and 2 more")));
}

TEST(EnginePlayerTest, ForfeitsAreKeptInTheResultsFile) {
  const std::string store = TemporaryPath("results.db");
  const auto play = [&](const std::string& games) {
    const TaraResult result =
        RunTara({"arena", "--variant", "four_treasures",
                 Fake("--fault illegal --after 5"), "random", "--games", games,
                 "--store", store, "--threads", "1", "--format=json"});
    EXPECT_EQ(result.status, 0) << result.err;
    return Json::parse(result.out)[0];
  };
  EXPECT_EQ(play("4")["forfeits"]["a"], 4);
  const Json more = play("6");
  EXPECT_EQ(more["games"], 6);
  EXPECT_EQ(more["forfeits"]["a"], 6);
  EXPECT_THAT(more["forfeits"]["games"][0]["fault"].get<std::string>(),
              HasSubstr("played pass, which is not legal"));
}

TEST(EnginePlayerTest, KeepsItsClock) {
  const TaraResult result =
      RunTara({"arena", "--variant", "four_treasures", Fake(), "random",
               "--games", "2", "--time-control", "1h+1s", "--format=json"});
  ASSERT_EQ(result.status, 0) << result.err;
  const Json row = Json::parse(result.out)[0];
  EXPECT_GT(row["clock"]["moves_a"], 20);
  EXPECT_EQ(row["clock"]["forfeits_a"], 0);
}

TEST(EnginePlayerTest, WhatCannotBeStartedEndsTheCommand) {
  const auto error = [](const std::string& engine) {
    const TaraResult result =
        RunTara({"arena", "--variant", "sacred_hill_l1", engine, "random"});
    EXPECT_EQ(result.status, 1) << engine;
    EXPECT_THAT(result.out, IsEmpty());
    return result.err;
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
    const TaraResult result =
        RunTara({"arena", "--variant", "sacred_hill_l1", spec, "random"});
    EXPECT_EQ(result.status, 2) << spec;
    EXPECT_THAT(result.err, HasSubstr(absl::StrCat("bad player spec '", spec)));
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
  const TaraResult result =
      RunTara({"balance", "--variant", "four_treasures", "--player", Fake(),
               "--games", "4", "--first-games", "0", "--format=json"});
  EXPECT_EQ(result.status, 0) << result.err;
  // What it cannot play to the end says nothing of balance.
  const TaraResult often =
      RunTara({"balance", "--variant", "four_treasures", "--player",
               Fake("--fault exit --after 60"), "--games", "4", "--first-games",
               "0", "--threads", "1", "--format=json"});
  EXPECT_EQ(often.status, 0) << often.err;
  EXPECT_EQ(Json::parse(often.out)["studies"][0]["games"], 4);
  EXPECT_THAT(ErrorOf(1, {"balance", "--variant", "four_treasures", "--player",
                          Fake("--fault exit --after 3"), "--games", "4",
                          "--first-games", "0"}),
              HasSubstr("was given up 3 times by its player"));
}

TEST(EnginePlayerTest, HasNoFilesOfTheProgram) {
  const std::string files = TemporaryPath("files");
  const TaraResult result = RunTara(
      {"balance", "--variant", "four_treasures", "--player",
       absl::StrCat(Fake("--files " + files), ",log=", TemporaryPath("log")),
       "--games", "2", "--first-games", "0", "--threads", "2", "--store",
       TemporaryPath("balance.db")});
  EXPECT_EQ(result.status, 0) << result.err;
  const std::vector<std::string> lines = Lines(ReadFile(files));
  ASSERT_THAT(lines, Not(IsEmpty()));
  for (const std::string& line : lines) EXPECT_EQ(line, " 0 1 2");
}

TEST(EnginePlayerTest, PlaysItselfIntoAGameStore) {
  const std::string store = TemporaryPath("games.db");
  const auto play = [&](const std::string& games) {
    return RunTara({"selfplay", "--variant", "all", "--player",
                    "engine:tests/eval/fake_engine,start=300,move=300",
                    "--games", games, "-o", store});
  };
  ASSERT_EQ(play("1").status, 0) << play("1").err;
  EXPECT_THAT(play("2").out, HasSubstr("10 games played"));
  const std::string lines = TemporaryPath("games.jsonl");
  EXPECT_EQ(RunTara({"games", "export", store, "-o", lines}).status, 0);
  EXPECT_EQ(RunTara({"verify", lines}).out, "20 passed, 0 failed\n");
}

TEST(EnginePlayerTest, PlayersWithOpinionsPlayThemselvesIntoAGameStore) {
  const std::string store = TemporaryPath("games.db");
  const TaraResult result =
      RunTara({"selfplay", "--variant", "all", "--player", "mcts:sims=5",
               "--games", "2", "-o", store});
  ASSERT_EQ(result.status, 0) << result.err;
  const std::string lines = TemporaryPath("games.jsonl");
  EXPECT_EQ(RunTara({"games", "export", store, "-o", lines}).status, 0);
  EXPECT_EQ(RunTara({"verify", lines}).out, "20 passed, 0 failed\n");
  EXPECT_THAT(ErrorOf(2, {"selfplay", "--variant", "all", "--player",
                          "mcts:x=1", "-o", store}),
              HasSubstr("bad player spec 'mcts:x=1'"));
}

TEST(EnginePlayerTest, IsAnOpponentInTheTerminal) {
  const std::vector<std::string> play = {
      "play", "--variant", "four_treasures", "--opponent", Fake(), "--ascii"};
  const TaraResult result = RunTara(play, "D4\nundo\nE4\nquit\n");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("Blue plays"), HasSubstr("Undone:")));
  const TaraResult crash =
      RunTara({"play", "--variant", "four_treasures", "--opponent",
               Fake("--fault crash"), "--ascii"},
              "D4\nE4\n");
  EXPECT_EQ(crash.status, 0) << crash.err;
  EXPECT_THAT(crash.out,
              AllOf(HasSubstr("Blue forfeits (Fake 1.0: ended (signal 11 "
                              "(Segmentation fault))"),
                    HasSubstr("Red wins.")));
}

// Tara is an engine itself.
TEST(EnginePlayerTest, TaraPlaysTara) {
  const TaraResult result = RunTara(
      {"arena", "--variant", "sacred_hill_l1",
       "engine:tara/cli/tara engine --search sims=20,start=300,move=300",
       "random", "--games", "4", "--format=json"});
  ASSERT_EQ(result.status, 0) << result.err;
  const Json row = Json::parse(result.out)[0];
  EXPECT_EQ(row["games"], 4);
  EXPECT_FALSE(row.contains("forfeits")) << row["forfeits"];
}

}  // namespace
}  // namespace tara::cli
