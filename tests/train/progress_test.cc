#include "tara/train/progress/progress.h"

#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/clocks.h"
#include "tara/nn/heads.h"

namespace tara::train {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ProgressSnapshot Playing() {
  ProgressSnapshot snapshot;
  snapshot.run_dir = "runs/first";
  snapshot.generation = 2;
  snapshot.generations = 8;
  snapshot.playing = true;
  snapshot.games = 50;
  snapshot.games_wanted = 200;
  snapshot.rates["games_per_second"] = 1.5;
  snapshot.rates["evaluations_per_second"] = 4321;
  snapshot.time_left = absl::Minutes(125);
  return snapshot;
}

// Returns what a progress prints of what `run` reports to it.
std::string Printed(ProgressForm form,
                    const std::function<void(Progress&)>& run,
                    absl::Time (*clock)() = &SteadyTime) {
  std::FILE* const file = std::tmpfile();
  {
    Progress progress({.out = file,
                       .form = form,
                       .interval = absl::Hours(1),
                       .clock = clock});
    run(progress);
  }
  std::rewind(file);
  std::string text;
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) {
    text += static_cast<char>(c);
  }
  std::fclose(file);
  return text;
}

TEST(ProgressTextTest, ALineSaysWhatGoesOnAndHowFast) {
  const std::string line = ProgressLine(Playing());
  EXPECT_EQ(line,
            "generation 3 of 8: self-play  50/200 games  1.50 games/s  "
            "4321 evaluations/s  about 2 h 05 min left");
}

TEST(ProgressTextTest, SearchesAreShownWithThePartsThatAreInUse) {
  ProgressSnapshot snapshot = Playing();
  snapshot.rates["simulations_per_second"] = 6000;
  snapshot.rates["simulations_per_evaluation"] = 1.5;
  snapshot.rates["batch_fill"] = 0.925;
  snapshot.rates["distinct_share"] = 0.9;
  snapshot.rates["cached_share"] = 0.2;
  EXPECT_THAT(
      ProgressLine(snapshot),
      HasSubstr("4321 evaluations/s  6000 simulations/s  1.50 per "
                "evaluation  batches 92 % full  distinct 90 %  cache 20 %  "
                "about"));
  snapshot.rates["evaluate_share"] = 0.7;
  snapshot.rates["cores"] = 12.34;
  snapshot.rates["graph_share"] = 0.123;
  snapshot.rates["solved_share"] = 0.05;
  snapshot.rates["games_resigned"] = 40;
  snapshot.rates["games_played_on"] = 4;
  snapshot.rates["played_on_false_positives"] = 1;
  EXPECT_THAT(ProgressBlock(snapshot, 200)[2],
              HasSubstr("cache 20 %  evaluating 70 %  graph 12 %  solved 5 %  "
                        "12.3 cores  resigned 40 (of 4 played on 1 wrong)"));
}

TEST(ProgressTest, RatesAreOfWhatWasCountedSinceSelfPlayBegan) {
  Event rates;
  Printed(ProgressForm::kLines, [&](Progress& progress) {
    SelfPlayStats& stats = progress.self_play_stats();
    stats.simulations = 1000;
    stats.evaluations = 1000;
    stats.batches = 10;
    stats.resigned = 3;
    stats.batch_room = 64;
    progress.BeginRun("runs/first", 0, 4);
    progress.BeginSelfPlay(20, 0);
    stats.simulations += 600;
    stats.evaluations += 400;
    stats.batches += 10;
    stats.caught_up += 60;
    stats.solved += 30;
    stats.plies += 8;
    stats.full_searches += 2;
    stats.resigned += 2;
    rates = progress.EndSelfPlay();
  });
  EXPECT_EQ(rates["simulations_per_evaluation"], 1.5);
  EXPECT_EQ(rates["positions_per_batch"], 40);
  EXPECT_EQ(rates["batch_fill"], 0.625);
  EXPECT_EQ(rates["graph_share"], 0.1);
  EXPECT_EQ(rates["solved_share"], 0.05);
  EXPECT_EQ(rates["full_share"], 0.25);
  EXPECT_EQ(rates["games_resigned"], 2);
}

TEST(ProgressTest, TwoGenerationsMayBePlayedAtOnce) {
  const std::string text =
      Printed(ProgressForm::kLines, [&](Progress& progress) {
        SelfPlayStats& stats = progress.self_play_stats();
        progress.BeginRun("runs/first", 0, 4);
        progress.BeginSelfPlay(20, 5);
        stats.games += 12;
        progress.BeginSelfPlay(30, 2);
        // The last 3 of the first generation, and 4 of the second.
        stats.games += 7;
        EXPECT_EQ(progress.EndSelfPlay()["games"], 19);
        progress.BeginLearning(0, 10, 20, 900);
        progress.EndLearning();
        stats.games += 24;
        EXPECT_EQ(progress.EndSelfPlay()["games"], 24);
        progress.BeginSelfPlay(40, 1);
      });
  EXPECT_THAT(text, HasSubstr("self-play  5/20 games"));
  EXPECT_THAT(text, HasSubstr("19/50 games"));
  EXPECT_THAT(text, HasSubstr("self-play and learning  6/30 games"));
  EXPECT_THAT(text, HasSubstr("1/40 games"));
}

TEST(ProgressTextTest, LearningShowsLossesAndWindow) {
  ProgressSnapshot snapshot = Playing();
  snapshot.playing = false;
  snapshot.learning = true;
  snapshot.steps = 10;
  snapshot.steps_wanted = 40;
  snapshot.losses = {.total = 3.25,
                     .heads = {{nn::Head::kPolicy, 2.0},
                               {nn::Head::kValue, 1.0},
                               {nn::Head::kMargin, 2.5}}};
  snapshot.window_games = 600;
  snapshot.window_positions = 27000;
  const std::string line = ProgressLine(snapshot);
  EXPECT_THAT(line,
              HasSubstr("learning  10/40 steps  loss 3.250 (policy 2.000"));
  EXPECT_THAT(line, HasSubstr("window 600 games, 27000 positions"));
  EXPECT_THAT(line, Not(HasSubstr("held out")));
  snapshot.held_out = {
      .heads = {{nn::Head::kPolicy, 2.5}, {nn::Head::kValue, 0.625}}};
  EXPECT_THAT(ProgressLine(snapshot),
              HasSubstr("held out: policy 2.500, value 0.625"));
  EXPECT_THAT(line, HasSubstr("margin 2.500)"));
  // Auxiliary heads, where they are computed.
  snapshot.losses->heads[nn::Head::kOwner] = 0.75;
  snapshot.losses->heads[nn::Head::kReply] = 3.5;
  EXPECT_THAT(ProgressLine(snapshot),
              HasSubstr("margin 2.500, owner 0.750, reply 3.500)"));
}

TEST(ProgressTextTest, TheBlockIsNoWiderThanTheTerminal) {
  for (const std::string& line : ProgressBlock(Playing(), 30)) {
    EXPECT_LE(line.size(), 30u);
  }
  EXPECT_THAT(ProgressBlock(Playing(), 200)[1],
              HasSubstr("[######..................] 50/200"));
}

TEST(ProgressTextTest, StrengthNamesVariantsOnlyWhenThereAreSeveral) {
  StrengthResult random{.variant = "four_treasures",
                        .opponent = "random",
                        .games = 40,
                        .wins = 39,
                        .draws = 0,
                        .losses = 1,
                        .score = 0.975,
                        .score_low = 0.925,
                        .score_high = 1};
  StrengthResult greedy = random;
  greedy.opponent = "greedy";
  EXPECT_EQ(StrengthText({random, greedy}),
            "random 98 % [92, 100]  greedy 98 % [92, 100]");
  greedy.variant = "high_kings_l1";
  EXPECT_EQ(StrengthText({random, greedy}),
            "four_treasures random 98 % [92, 100]  "
            "high_kings_l1 greedy 98 % [92, 100]");
}

TEST(ProgressTextTest, AnEvaluationShowsItsGamesAndTheOpponent) {
  ProgressSnapshot snapshot;
  snapshot.generations = 4;
  snapshot.generation = 4;
  snapshot.evaluating = true;
  snapshot.evaluated = {.opponent = "greedy", .games = 20, .games_wanted = 80};
  EXPECT_THAT(ProgressLine(snapshot), HasSubstr("20/80 games  against greedy"));
  EXPECT_THAT(ProgressBlock(snapshot, 100).back(),
              HasSubstr("[######..................] 20/80 games  against"));
}

TEST(ProgressTest, WithoutATerminalItPrintsPlainLines) {
  const std::string text =
      Printed(ProgressForm::kLines, [&](Progress& progress) {
        progress.BeginRun("runs/first", 0, 4);
        progress.BeginSelfPlay(20, 5);
        progress.self_play_stats().games += 15;
        EXPECT_EQ(progress.EndSelfPlay()["games"], 15);
        progress.BeginLearning(0, 10, 20, 900);
        progress.Learned(10, 0.001, {.total = 4});
        progress.EndLearning();
        progress.BeginEvaluation(1);
        progress.Evaluated(
            {.opponent = "greedy", .games = 7, .games_wanted = 80});
        progress.Print("hello");
      });
  EXPECT_THAT(text, HasSubstr("generation 1 of 4: self-play  5/20 games"));
  EXPECT_THAT(text, HasSubstr("10/10 steps  loss 4.000"));
  EXPECT_THAT(text, HasSubstr("hello\n"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

// Time may have ended the training, with generations left.
TEST(ProgressTest, OfTheLastEvaluationItTellsItsOwnTime) {
  for (const bool ended : {false, true}) {
    const std::string text =
        Printed(ProgressForm::kLines, [&](Progress& progress) {
          progress.BeginRun("runs/first", 0, 4);
          progress.BeginLearning(0, 10, 20, 900);
          progress.EndLearning();
          if (ended) progress.EndTraining();
          progress.BeginEvaluation(1);
        });
    const size_t evaluation = text.find("evaluation");
    ASSERT_NE(evaluation, std::string::npos) << text;
    // None of its games is over: nothing is known yet.
    EXPECT_EQ(text.find(" left", evaluation) == std::string::npos, ended)
        << text;
  }
}

absl::Time simulated_time;

// A run of the quickstart's plan, with the shares of time that its parts have:
// self-play and learning 57 %, a third the last evaluation.
TEST(ProgressTest, AfterTwoGenerationsTheTimeLeftIsRightWithEvaluations) {
  std::vector<absl::Time> begun;  // of each line
  const auto pass = [](double seconds) {
    simulated_time += absl::Seconds(seconds);
  };
  simulated_time = absl::UnixEpoch();
  const auto run = [&](Progress& progress) {
    const auto begins = [&] { begun.push_back(simulated_time); };
    // Opponents in their order: random, playouts, alpha-beta, checkpoint 1.
    const auto evaluate = [&](int checkpoint, int games, int opponents) {
      begins();
      progress.BeginEvaluation(checkpoint);
      constexpr double kSecondsAGame[] = {0.1, 0.9, 0.2, 0.4};
      int done = 0;
      for (int i = 0; i < opponents; ++i) {
        for (int game = 0; game < games; ++game) {
          pass(kSecondsAGame[i]);
          progress.Evaluated({.opponent = "some",
                              .games = ++done,
                              .games_wanted = games * opponents});
        }
      }
      progress.EndEvaluation(checkpoint, {});
    };
    progress.BeginRun("runs/first", 0, 10,
                      {.every = 4, .games = 120, .final_games = 800});
    for (int generation = 0; generation < 10; ++generation) {
      begins();
      progress.BeginSelfPlay(300, 0);
      for (int game = 0; game < 300; ++game) {
        pass(0.1);
        progress.self_play_stats().games += 1;
      }
      progress.EndSelfPlay();
      begins();
      progress.BeginLearning(generation, 100, 20, 900);
      pass(15);
      progress.Learned(100, 0.001, {.total = 4});
      begins();  // EndLearning prints, too
      progress.EndLearning();
      const int checkpoint = generation + 1;
      if (checkpoint % 4 == 0) evaluate(checkpoint, 40, 3);
    }
    progress.EndTraining();
    evaluate(10, 200, 4);
  };
  const std::string text =
      Printed(ProgressForm::kJson, run, +[] { return simulated_time; });
  const std::vector<std::string> lines =
      absl::StrSplit(text, '\n', absl::SkipEmpty());
  ASSERT_EQ(lines.size(), begun.size()) << text;
  for (size_t i = 6; i < lines.size(); ++i) {
    const double left = absl::ToDoubleSeconds(simulated_time - begun[i]);
    const nlohmann::json line = nlohmann::json::parse(lines[i]);
    ASSERT_TRUE(line.contains("seconds_left")) << lines[i];
    EXPECT_GT(line["seconds_left"], left / 1.5) << lines[i];
    EXPECT_LT(line["seconds_left"], left * 1.5) << lines[i];
  }
}

TEST(ProgressTest, ForProgramsItPrintsEvents) {
  const std::string text =
      Printed(ProgressForm::kJson, [&](Progress& progress) {
        progress.BeginRun("runs/first", 0, 4);
        progress.BeginSelfPlay(20, 5);
        progress.self_play_stats().games += 15;
        progress.EndSelfPlay();
        progress.PrintEvent(R"({"event":"self_play"})");
        progress.BeginLearning(0, 10, 20, 900);
        progress.Learned(5, 0.001, {.total = 4});
        progress.EndLearning();
        progress.BeginEvaluation(1);
        progress.Print("hello");
        progress.EndEvaluation(1, {});
        progress.EndGate("promoted");
      });
  std::vector<nlohmann::json> lines;
  for (const absl::string_view line :
       absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    lines.push_back(nlohmann::json::parse(line));
  }
  ASSERT_EQ(lines.size(), 5u) << text;
  EXPECT_EQ(lines[0]["event"], "progress");
  EXPECT_EQ(lines[0]["run_dir"], "runs/first");
  EXPECT_EQ(lines[0]["phase"], "self-play");
  EXPECT_EQ(lines[0]["games"], 5);
  EXPECT_EQ(lines[0]["games_wanted"], 20);
  EXPECT_FALSE(lines[0].contains("seconds_left"));
  EXPECT_EQ(lines[1]["event"], "self_play");
  EXPECT_EQ(lines[2]["phase"], "learning");
  EXPECT_FALSE(lines[2].contains("loss"));
  EXPECT_EQ(lines[3]["steps"], 5);
  EXPECT_EQ(lines[3]["loss"], 4);
  EXPECT_DOUBLE_EQ(lines[3]["generations_done"], 0.7 + 0.3 / 2);
  EXPECT_EQ(lines[4]["phase"], "evaluation");
  EXPECT_EQ(lines[4]["generations_done"], 1);
}

TEST(ProgressTest, OnATerminalItRedrawsInPlace) {
  const std::string text =
      Printed(ProgressForm::kBlock, [&](Progress& progress) {
        progress.BeginRun("runs/first", 0, 4);
        progress.BeginSelfPlay(20, 5);
        progress.Print("hello");
      });
  // Two lines of the block, up again, a line that stays, the block again.
  EXPECT_THAT(text, HasSubstr("\x1b[2A\r\x1b[Jhello\nruns/first"));
}

}  // namespace
}  // namespace tara::train
