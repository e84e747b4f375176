// What the commands that compare players make of a training run.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tests/cli/tara_process.h"

namespace tara::cli {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Json = nlohmann::json;

// Returns the folder of a run that has learned Four Treasures for seconds. All
// tests look at the same one.
const std::string& TinyRun() {
  static const std::string* const run = [] {
    const auto* const folder = new std::string(TemporaryPath("run"));
    const std::string config = TemporaryPath("tiny.textproto");
    WriteFile(config,
              absl::StrCat(
                  R"pb(
                    variant: "four_treasures"
                    generations: 2
                    network { channels: 4 blocks: 1 }
                    self_play {
                      games_per_generation: 4
                      threads: 1
                      search { simulations: 2 }
                    }
                    learner { batch_size: 8 steps_per_generation: 2 threads: 1 }
                    evaluation { games: 2 final_games: 2 simulations: 2 }
                  )pb",
                  "run_dir: \"", *folder, "\"\n"));
    const TaraResult result = RunTara({"train", config});
    EXPECT_EQ(result.status, 0) << result.err;
    return folder;
  }();
  return *run;
}

TEST(RunReportsTest, RateDrawsCheckpointsAlongTheirGenerations) {
  const std::string page = TemporaryPath("rate.html");
  const TaraResult result = RunTara(
      {"rate", TinyRun(), "random", "--sims", "0", "--games", "12", "--store",
       TemporaryPath("rate.db"), "--html", page, "--format=json"});
  ASSERT_EQ(result.status, 0) << result.err;
  const Json report = Json::parse(result.out);
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

TEST(RunReportsTest, RegretFollowsARunOnATestSetThatIsKept) {
  const std::string set = TemporaryPath("set.jsonl");
  const std::string page = TemporaryPath("regret.html");
  const auto regret = [&](const std::string& player) {
    const TaraResult result =
        RunTara({"regret", "--variant", "four_treasures", "--player", player,
                 "--positions", "6", "--nodes", "2k", "--test-set", set,
                 "--html", page, "--format=json"});
    EXPECT_EQ(result.status, 0) << result.err;
    return result.status == 0 ? Json::parse(result.out) : Json();
  };
  const Json rows = regret(TinyRun());
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[1]["player"], "ckpt-000001");
  EXPECT_EQ(rows[1]["generation"], 1);
  EXPECT_EQ(rows[1]["positions"], 6);
  EXPECT_TRUE(rows[1].contains("value_error"));
  EXPECT_THAT(ReadFile(page),
              HasSubstr("Points lost by generation: generation 0: "));
  const std::string kept = ReadFile(set);
  const Json again = regret(absl::StrCat("net:", TinyRun(), ",sims=0"));
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0]["policy"], rows[2]["policy"]);
  EXPECT_EQ(ReadFile(set), kept);
}

TEST(RunReportsTest, WhatANetworkHasNotLearnedIsRefusedUnlessAllowed) {
  const std::string spec = absl::StrCat("net:", TinyRun(), ",sims=0");
  for (std::vector<std::string> arguments :
       std::vector<std::vector<std::string>>{
           {"arena", "random", spec, "--games", "2"},
           {"rate", "random", spec, "--games", "2"},
           {"regret", "--player", spec, "--positions", "1", "--nodes", "1k"},
           {"balance", "--player", spec, "--games", "2", "--first-games", "0"},
           {"play", "--opponent", spec},
           {"selfplay", "--player", TinyRun(), "--sims", "2", "--games", "1",
            "-o", TemporaryPath("untrained.db")},
           {"engine", "--model", TinyRun()},
       }) {
    arguments.insert(arguments.end(), {"--variant", "high_kings_l1"});
    const TaraResult refused = RunTara(arguments);
    EXPECT_EQ(refused.status, 2) << arguments[0];
    EXPECT_THAT(refused.out, IsEmpty()) << arguments[0];
    const bool is_network =
        arguments[0] == "selfplay" || arguments[0] == "engine";
    EXPECT_THAT(refused.err,
                AllOf(HasSubstr(is_network ? TinyRun() : spec),
                      HasSubstr(" has not learned high_kings_l1; its run "
                                "learned four_treasures"),
                      HasSubstr("--untrained")))
        << arguments[0];
    arguments.push_back("--untrained");
    EXPECT_EQ(RunTara(arguments).status, 0) << arguments[0];
  }
}

// A network that has learned Sacred Hill, and High Kings with
// no_progress_limit=30.
constexpr char kWitness[] = "tests/nn/witness/bundle.tara";

TEST(RunReportsTest, RuleOptionsThatANetworkHasNotLearnedAreRefused) {
  const std::string spec = absl::StrCat("net:", kWitness, ",sims=0");
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{
           {"arena", "random", spec},
           {"arena", "random", "greedy", "--openings",
            absl::StrCat("balanced:", spec)},
           {"rate", "random", spec},
           {"regret", "--player", spec},
           {"balance", "--player", spec},
           {"balance", "--player", spec, "--option", "no_progress_limit=30",
            "--what-if", "no_progress_limit=40"},
           {"play", "--opponent", spec},
           {"selfplay", "--player", kWitness, "-o", TemporaryPath("games.db")},
           {"engine", "--model", kWitness},
       }) {
    std::vector<std::string> all = arguments;
    all.insert(all.end(), {"--variant", "high_kings_l1"});
    const TaraResult refused = RunTara(all);
    EXPECT_EQ(refused.status, 2) << arguments[0];
    EXPECT_THAT(refused.out, IsEmpty()) << arguments[0];
    EXPECT_THAT(refused.err,
                AllOf(HasSubstr("has not learned no_progress_limit=40 of "
                                "high_kings_l1; its run learned "
                                "no_progress_limit=30"),
                      HasSubstr("--untrained")))
        << arguments[0];
  }
}

TEST(RunReportsTest, WhatANetworkPlaysUntrainedIsMarked) {
  const std::string spec = absl::StrCat("net:", kWitness, ",sims=0");
  const std::string page = TemporaryPath("untrained.html");
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{
           {"arena", "random", spec, "--games", "2"},
           {"rate", "random", spec, "--games", "2", "--html", page},
           {"regret", "--player", spec, "--positions", "1", "--nodes", "1k",
            "--html", page},
           {"balance", "--player", spec, "--option", "no_progress_limit=30",
            "--what-if", "no_progress_limit=40", "--games", "2",
            "--first-games", "0", "--html", page},
       }) {
    std::vector<std::string> all = arguments;
    all.insert(all.end(), {"--variant", "high_kings_l1", "--untrained"});
    const TaraResult text = RunTara(all);
    EXPECT_EQ(text.status, 0) << arguments[0] << ": " << text.err;
    EXPECT_THAT(text.out,
                AllOf(HasSubstr("(not learned)"), HasSubstr("Not learned, in "),
                      HasSubstr("no_progress_limit=40")))
        << arguments[0];
    all.push_back("--format=json");
    EXPECT_THAT(RunTara(all).out,
                ContainsRegex("\"not_learned\": \".*no_progress_limit=40"))
        << arguments[0];
    if (arguments.back() != page) continue;
    EXPECT_THAT(ReadFile(page),
                ContainsRegex("[Nn]ot.learned.*no_progress_limit=40"))
        << arguments[0];
  }
  const TaraResult play = RunTara(
      {"play", "--opponent", spec, "--variant", "high_kings_l1", "--untrained"},
      "hint\n");
  EXPECT_THAT(play.out,
              AllOf(HasSubstr("has not learned no_progress_limit=40"),
                    HasSubstr("(not learned: no_progress_limit=40)")));
  const std::string store = TemporaryPath("untrained.db");
  const TaraResult games =
      RunTara({"selfplay", "--player", kWitness, "--variant", "high_kings_l1",
               "--untrained", "--games", "1", "--sims", "2", "-o", store});
  EXPECT_THAT(games.out, HasSubstr("Not learned, in high_kings_l1: "
                                   "no_progress_limit=40"));
  EXPECT_THAT(RunTara({"games", "list", store}).out,
              HasSubstr("bundle,precision=float32,sims=2,untrained"));
  EXPECT_THAT(RunTara({"games", "stats", store}).out,
              ContainsRegex("not learned  ended by\nhigh_kings_l1 .* 1  "));
}

TEST(RunReportsTest, WhatANetworkHasLearnedIsPlayedWithoutAMark) {
  const std::string spec = absl::StrCat("net:", kWitness, ",sims=0");
  const TaraResult result =
      RunTara({"arena", "random", spec, "--variant", "high_kings_l1",
               "--option", "no_progress_limit=30", "--games", "2"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, Not(HasSubstr("learned")));
  // Without a variant the engine begins with one that the network has learned.
  const TaraResult engine =
      RunTara({"engine", "--model", TinyRun()}, "variant\nquit\n");
  EXPECT_EQ(engine.status, 0) << engine.err;
  EXPECT_THAT(engine.out, HasSubstr("= four_treasures\n"));
}

TEST(RunReportsTest, NetworksOfWhichNothingIsKnownPlayWhatTheyAreAsked) {
  const auto play = [](const std::string& path) {
    return RunTara({"arena", "random", absl::StrCat("net:", path, ",sims=0"),
                    "--games", "2", "--variant", "high_kings_l1"});
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
  EXPECT_THAT(ErrorOf(1, {"regret", "--variant", "four_treasures", "--player",
                          TinyRun(), "--checkpoints", "0,9"}),
              HasSubstr("no checkpoint of generation 9; the newest is 2"));
}

}  // namespace
}  // namespace tara::cli
