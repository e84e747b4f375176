// What the commands that compare players make of a training run.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tests/cli/tara_process.h"

namespace tara::cli {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

// Returns the folder of a run that has learned Four Treasures for seconds. All
// tests look at the same one.
const std::string& TinyRun() {
  static const std::string* const run = [] {
    const auto* const folder = new std::string(TemporaryPath("run"));
    OutputOf("train " + WriteTinyConfig(*folder) +
             " --set variant=four_treasures");
    return folder;
  }();
  return *run;
}

TEST(RunReportsTest, RateDrawsCheckpointsAlongTheirGenerations) {
  const std::string page = TemporaryPath("rate.html");
  const Json report =
      JsonOf({"rate", TinyRun(), "random", "--sims", "0", "--games", "12",
              "--store", TemporaryPath("rate.db"), "--html", page});
  // What it has learned, without being asked for.
  ASSERT_EQ(report["variants"].size(), 1u);
  EXPECT_EQ(report["variants"][0]["variant"], "four_treasures");
  ASSERT_EQ(report["players"].size(), 4u);
  EXPECT_EQ(report["players"][2]["generation"], 2);
  EXPECT_EQ(report["players"][2]["run"], TinyRun());
  EXPECT_THAT(ReadFile(page), HasSubstr("Elo by generation: generation 0: "));
}

TEST(RunReportsTest, GamesThatLeavePlayersApartAreTooFew) {
  EXPECT_THAT(ErrorOf(1, {"rate", TinyRun(), "random", "greedy",
                          "alphabeta:depth=1", "--sims", "0", "--games", "2",
                          "--store", TemporaryPath("rate.db")}),
              AllOf(HasSubstr("groups without games between them"),
                    HasSubstr("expected more --games, to connect "
                              "them")));
}

TEST(RunReportsTest, WhatANetworkHasNotLearnedIsRefusedUnlessAllowed) {
  const std::string spec = absl::StrCat("net:", TinyRun(), ",sims=0");
  for (const std::string& command :
       {"arena random " + spec + " --games 2",
        "rate random " + spec + " --games 2",
        "balance --player " + spec + " --games 2 --first-games 0",
        "play --opponent " + spec,
        "selfplay --player " + TinyRun() + " --sims 2 --games 1 -o " +
            TemporaryPath("untrained.db"),
        "engine --model " + TinyRun()}) {
    SCOPED_TRACE(command);
    const Words arguments = command + " --variant high_kings_l1";
    const bool is_spec = absl::StrContains(command, spec);
    EXPECT_THAT(ErrorOf(2, arguments),
                AllOf(HasSubstr(is_spec ? spec : TinyRun()),
                      HasSubstr(" has not learned high_kings_l1; its run "
                                "learned four_treasures"),
                      HasSubstr("--untrained")));
    EXPECT_EQ(RunTara(arguments + "--untrained").status, 0);
  }
}

// A network that has learned Sacred Hill, and High Kings with
// no_progress_limit=30.
constexpr char kWitness[] = "tests/nn/witness/bundle.tara";

TEST(RunReportsTest, RuleOptionsThatANetworkHasNotLearnedAreRefused) {
  const std::string spec = absl::StrCat("net:", kWitness, ",sims=0");
  for (const std::string& command :
       {"arena random " + spec, "rate random " + spec,
        "balance --player " + spec,
        "balance --option no_progress_limit=30 --what-if no_progress_limit=40 "
        "--player " +
            spec,
        "play --opponent " + spec,
        "selfplay -o " + TemporaryPath("games.db") + " --player " + kWitness,
        absl::StrCat("engine --model ", kWitness)}) {
    SCOPED_TRACE(command);
    EXPECT_THAT(ErrorOf(2, command + " --variant high_kings_l1"),
                AllOf(HasSubstr("has not learned no_progress_limit=40 of "
                                "high_kings_l1; its run learned "
                                "no_progress_limit=30"),
                      HasSubstr("--untrained")));
  }
}

TEST(RunReportsTest, WhatANetworkPlaysUntrainedIsMarked) {
  const std::string spec = absl::StrCat("net:", kWitness, ",sims=0");
  const std::string page = TemporaryPath("untrained.html");
  for (const std::string& command :
       {"arena random " + spec + " --games 2",
        "rate random " + spec + " --games 2 --html " + page,
        "balance --player " + spec +
            " --option no_progress_limit=30 --what-if no_progress_limit=40 "
            "--games 2 --first-games 0 --html " +
            page}) {
    SCOPED_TRACE(command);
    const Words all = command + " --variant high_kings_l1 --untrained";
    EXPECT_THAT(OutputOf(all),
                AllOf(HasSubstr("(not learned)"), HasSubstr("Not learned, in "),
                      HasSubstr("no_progress_limit=40")));
    EXPECT_THAT(OutputOf(all + "--format=json"),
                ContainsRegex("\"not_learned\": \".*no_progress_limit=40"));
    if (!absl::StrContains(command, page)) continue;
    EXPECT_THAT(ReadFile(page),
                ContainsRegex("[Nn]ot.learned.*no_progress_limit=40"));
  }
  EXPECT_THAT(
      OutputOf("play --variant high_kings_l1 --untrained --opponent " + spec,
               "hint\n"),
      AllOf(HasSubstr("has not learned no_progress_limit=40"),
            HasSubstr("(not learned: no_progress_limit=40)")));
  const std::string store = TemporaryPath("untrained.db");
  EXPECT_THAT(OutputOf(absl::StrCat("selfplay --variant high_kings_l1 "
                                    "--untrained --games 1 --sims 2 --player ",
                                    kWitness, " -o ", store)),
              HasSubstr("Not learned, in high_kings_l1: no_progress_limit=40"));
  EXPECT_THAT(OutputOf("games list " + store),
              HasSubstr("bundle,precision=float32,sims=2,untrained"));
  EXPECT_THAT(OutputOf("games stats " + store),
              ContainsRegex("not learned  ended by\nhigh_kings_l1 .* 1  "));
}

TEST(RunReportsTest, WhatANetworkHasLearnedIsPlayedWithoutAMark) {
  const std::string spec = absl::StrCat("net:", kWitness, ",sims=0");
  EXPECT_THAT(
      OutputOf(
          "arena random " + spec +
          " --variant high_kings_l1 --option no_progress_limit=30 --games 2"),
      Not(HasSubstr("learned")));
  // Without a variant the engine begins with one that the network has learned.
  EXPECT_THAT(OutputOf("engine --model " + TinyRun(), "variant\nquit\n"),
              HasSubstr("= four_treasures\n"));
}

TEST(RunReportsTest, NetworksOfWhichNothingIsKnownPlayWhatTheyAreAsked) {
  const auto play = [](const std::string& path) {
    return RunTara("arena random net:" + path +
                   ",sims=0 --games 2 --variant high_kings_l1");
  };
  const std::string alone = TemporaryPath("network.pt");
  WriteFile(alone, ReadFile(TinyRun() + "/checkpoints/ckpt-000002.pt"));
  const TaraResult result = play(alone);
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.err,
              HasSubstr(absl::StrCat("the variants that net:", alone,
                                     ",sims=0 has learned")));
  // A run that began with another network may have forgotten what that knew.
  const std::string run = TemporaryPath("further");
  ASSERT_EQ(RunShell(absl::StrCat("cp -r ", TinyRun(), " ", run)).status, 0);
  const std::string config = run + "/config.textproto";
  WriteFile(config, absl::StrReplaceAll(
                        ReadFile(config),
                        {{"init_from: \"-\"", "init_from: \"runs/other\""}}));
  EXPECT_EQ(play(run).status, 2);
}

TEST(RunReportsTest, AMissingGenerationIsTold) {
  EXPECT_THAT(
      ErrorOf(1, absl::StrCat("rate ", TinyRun(), " --checkpoints 0,9")),
      HasSubstr("no checkpoint of generation 9; the newest is 2"));
}

}  // namespace
}  // namespace tara::cli
