#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "tests/cli/tara_process.h"

namespace tara::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

TEST(TrainTest, HelpListsTheFieldsWithTypeValuesAndDefault) {
  EXPECT_THAT(OutputOf("train --help"),
              AllOf(HasSubstr("  learner.batch_size (uint32, 1 to 1048576, "
                              "default 256)\n      Samples per step\n"),
                    HasSubstr("  variant (string, repeated, default "
                              "sacred_hill_l1)\n"),
                    HasSubstr("  learner.threads (uint32, 1 to 1024, default "
                              "cores)\n"),
                    HasSubstr("  self_play.search.c_puct (float, 0 to 100, "
                              "default 1.5)\n      Weight of priors against "
                              "values\n")));
}

TEST(TrainTest, EndsWithTheStrengthOfThePlayerThatHasLearned) {
  const std::string run_dir = TemporaryPath("run");
  const std::string config = WriteTinyConfig(run_dir);
  EXPECT_THAT(
      OutputOf("train " + config),
      AllOf(HasSubstr("ckpt-000002 at 2 simulations"), HasSubstr("score % "),
            HasSubstr(" 95 % "), HasSubstr("  random "), HasSubstr("  greedy "),
            HasSubstr("  ckpt-000001 "),
            HasSubstr("Score over the generations")));
  OutputOf({"games", "export", run_dir, "-o", TemporaryPath("games.jsonl")});
  EXPECT_THAT(OutputOf("games list " + run_dir), HasSubstr("\n8 of 8 games"));

  // What came of it can be used.
  const std::string spec = absl::StrCat("net:", run_dir, ",sims=2");
  OutputOf("arena --variant sacred_hill_l1 " + spec + " random --games 2");
  EXPECT_THAT(OutputOf("play --variant sacred_hill_l1 --opponent " + spec,
                       "go\nhint\n"),
              HasSubstr("Blue plays "));
  OutputOf({"selfplay", "--variant", "sacred_hill_l1", "--model", run_dir,
            "--games", "2", "--sims", "2", "-o", TemporaryPath("net.db")});
}

// For programs: what metrics.jsonl has, between progress, and an end.
TEST(TrainTest, EventsAreThoseOfTheMetricsAsTheyCome) {
  const std::string run_dir = TemporaryPath("run");
  const std::string config = WriteTinyConfig(run_dir);
  const std::string result = OutputOf("train " + config + " --format=json");
  std::string metrics, last;
  for (const absl::string_view line :
       absl::StrSplit(result, '\n', absl::SkipEmpty())) {
    last = std::string(line);
    if (absl::StartsWith(line, R"({"event":"progress",)")) continue;
    if (absl::StartsWith(line, R"({"event":"end",)")) continue;
    absl::StrAppend(&metrics, line, "\n");
  }
  EXPECT_EQ(metrics, ReadFile(run_dir + "/metrics.jsonl"));
  EXPECT_THAT(result,
              StartsWith(absl::StrCat(R"({"event":"progress","run_dir":")",
                                      run_dir, "\"")));
  EXPECT_THAT(last, AllOf(StartsWith(R"({"event":"end",)"),
                          HasSubstr(R"("generation":2,"generations":2,)"),
                          HasSubstr(R"(ckpt-000002)"),
                          HasSubstr(R"("stopped":false})")));
}

TEST(TrainTest, AGateSaysWhatItLetThroughAndMinutesEndARun) {
  const std::string run_dir = TemporaryPath("run");
  const std::string config = WriteTinyConfig(run_dir);
  // Two hundredths of a second: the first generation alone.
  const TaraResult first =
      RunTara("train " + config +
              " --set gate.games=2 --set gate.simulations=2 --minutes 0.0003");
  ASSERT_EQ(first.status, 0) << first.err;
  EXPECT_THAT(first.out,
              AllOf(HasSubstr("The 0.0003 minutes of the run were up after "
                              "generation 1 of 2."),
                    HasSubstr("The gate let 1 checkpoints through, and 0 not."),
                    HasSubstr("ckpt-000001 at 2 simulations")));
  EXPECT_THAT(first.err, HasSubstr("gate: ckpt-000001 plays"));
  EXPECT_THAT(OutputOf("train " + config +
                       " --set gate.games=2 --set gate.simulations=2"),
              HasSubstr("The gate let 2 checkpoints through, and 0 not."));
}

TEST(TrainTest, AFullDiskIsAFailureThatSaysWhatToDo) {
  const std::string run_dir = TemporaryPath("run");
  const std::string config = WriteTinyConfig(run_dir);
  // In blocks of 512 or of 1024 bytes; without the signal that would kill it.
  // ThreadSanitizer begins with a temporary file, if there is a folder for it.
  const TaraResult full = RunShell(absl::StrCat(
      "trap '' XFSZ; ulimit -f 16; TMPDIR=/dev/null exec \"$TARA\" train ",
      config));
  EXPECT_THAT(
      ErrorOf(1, full),
      AllOf(HasSubstr(run_dir + "/"),
            HasSubstr("free some space, then run the same command to resume")));
  OutputOf("train " + config);
}

TEST(TrainTest, ALargerNetworkToBeginWithIsAUsageError) {
  const std::string run_dir = TemporaryPath("run");
  OutputOf(
      absl::StrCat("train ", WriteTinyConfig(run_dir), " --set generations=1"));
  EXPECT_THAT(
      ErrorOf(2, {"train", WriteTinyConfig(TemporaryPath("other")), "--set",
                  "init_from=" + run_dir, "--set", "network.channels=2"}),
      HasSubstr("has 4 channels and 1 blocks, that of the "
                "config (network) 2 channels"));
}

TEST(TrainTest, AnOpponentThatHasNotLearnedTheRulesIsAUsageError) {
  const std::string run_dir = TemporaryPath("run");
  OutputOf(
      absl::StrCat("train ", WriteTinyConfig(run_dir), " --set generations=1"));
  const std::string other = TemporaryPath("other");
  const Words arguments = "train " + WriteTinyConfig(other) +
                          " --set generations=1 --set variant=four_treasures "
                          "--set evaluation.opponent=net:" +
                          run_dir + "\\,sims=2";
  EXPECT_THAT(ErrorOf(2, arguments),
              AllOf(HasSubstr(absl::StrCat("evaluation.opponent: net:", run_dir,
                                           ",sims=2 has not learned "
                                           "four_treasures")),
                    HasSubstr("--untrained")));
  EXPECT_FALSE(std::filesystem::exists(other));
  OutputOf(arguments + "--untrained");
}

// Returns the contents of all files of a folder, but for its lock.
std::map<std::string, std::string> FilesOf(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file() || entry.path().filename() == "lock") continue;
    files[entry.path().string()] = ReadFile(entry.path().string());
  }
  return files;
}

TEST(TrainTest, WhatIsKnownToFailIsRefusedBeforeAnythingIsWritten) {
  const std::string parent = TemporaryPath("refused");
  const std::string config = WriteTinyConfig(parent + "/run");
  for (const auto& [set, message] : std::map<std::string, std::string>{
           // No machine has so many.
           {"inference.device=cuda:127", "inference.device: "},
           {"learner.device=cuda:127", "learner.device: "},
           {"inference.precision=int8", "inference.precision: int8 with "},
           {"inference.backend=tara --set inference.precision=float16",
            "inference.precision: float16 with inference.backend: tara"},
           {"evaluation.opponent=engine:./nope",
            "evaluation.opponent: engine:./nope: "},
           {"evaluation.opponent='engine:tests/eval/fake_engine --fault gone'",
            "instead of answering"},
           {"evaluation.opponent='engine:tests/eval/fake_engine --fault "
            "choosy' --set variant=four_treasures,sacred_hill_l1",
            "refused 'variant sacred_hill_l1'"},
           {"evaluation.opponent=net:/no/such",
            "evaluation.opponent: net:/no/such"},
           {"init_from=/no/such", "init_from: "},
           {"run_dir=/dev/null/run", "run_dir: "}}) {
    SCOPED_TRACE(set);
    const TaraResult result =
        RunShell(absl::StrCat("exec \"$TARA\" train ", config, " --set ", set));
    EXPECT_THAT(
        Lines(ErrorOf(1, result)),
        testing::ElementsAre(AllOf(StartsWith("tara: "), HasSubstr(message))));
    EXPECT_FALSE(std::filesystem::exists(parent));
  }
}

TEST(TrainTest, ARunThatCannotGoOnIsRefusedBeforeAnythingIsWritten) {
  const std::string run_dir = TemporaryPath("run");
  const std::string config = WriteTinyConfig(run_dir);
  OutputOf("train " + config + " --set generations=1");
  const auto before = FilesOf(run_dir);
  EXPECT_THAT(ErrorOf(1, "train " + config +
                             " --set evaluation.opponent=engine:./nope"),
              HasSubstr("evaluation.opponent: engine:./nope: "));
  EXPECT_EQ(FilesOf(run_dir), before);
}

// Before 0.3.0, a run recorded the engine and the number type that were the
// fastest on its processor.
TEST(TrainTest, ARunOfAnOlderProgramGoesOn) {
  const std::string run_dir = TemporaryPath("run");
  const std::string config = WriteTinyConfig(run_dir);
  OutputOf("train " + config + " --set generations=1");
  const std::string recorded = run_dir + "/config.textproto";
  WriteFile(recorded, absl::StrReplaceAll(
                          ReadFile(recorded),
                          {{"precision: \"float32\"", "precision: \"int16\""},
                           {"backend: \"tara\"", "backend: \"onednn\""}}));
  ASSERT_THAT(ReadFile(recorded), AllOf(HasSubstr("precision: \"int16\""),
                                        HasSubstr("backend: \"onednn\"")));
  OutputOf("train " + config);
  EXPECT_THAT(ReadFile(recorded), HasSubstr("precision: \"float32\""));
}

TEST(TrainTest, GamesOfAnotherRunAreNotLearnedFrom) {
  const std::string run_dir = TemporaryPath("run");
  const std::string config = WriteTinyConfig(run_dir);
  OutputOf("train " + config + " --set generations=1");
  for (const auto& [change, expected] : std::map<std::string, std::string>{
           {"variant=four_treasures", "it is of sacred_hill_l1"},
           {"seed=77", "it is of another seed"}}) {
    const std::string anew = TemporaryPath("anew");
    std::filesystem::create_directories(anew);
    std::filesystem::copy(run_dir + "/games.db", anew + "/games.db");
    const std::string refused =
        ErrorOf(1, absl::StrCat("train ", config, " --set run_dir=", anew,
                                " --set ", change));
    EXPECT_THAT(refused,
                HasSubstr("games.db: game 0 does not belong to this run"));
    EXPECT_THAT(refused, HasSubstr(expected));
  }
  const std::string matches = TemporaryPath("matches");
  std::filesystem::create_directories(matches);
  OutputOf("arena --variant sacred_hill_l1 random greedy --games 2 --store " +
           matches + "/games.db");
  EXPECT_THAT(RunTara("train " + config + " --set run_dir=" + matches).err,
              HasSubstr("it is of a match"));
}

TEST(TrainTest, AMissingConfigIsAFailure) {
  const std::string missing = TemporaryPath("missing.textproto");
  EXPECT_THAT(ErrorOf(1, "train " + missing),
              AllOf(StartsWith("tara: "), HasSubstr(missing)));
}

TEST(TrainTest, ConfigsThatMakeNoSenseAreUsageErrors) {
  const std::string config = WriteTinyConfig(TemporaryPath("run"));
  for (const auto& [set, message] : std::map<std::string, std::string>{
           {"generatoins=3", "generatoins"},
           {"learner.batchsize=3", "batchsize"},
           {"generations=many", "many"},
           {"generations", "generations"},
           {"variant=chess", "chess"},
           {"evaluation.opponent=nobody", "nobody"}}) {
    EXPECT_THAT(
        Lines(ErrorOf(2, absl::StrCat("train ", config, " --set ", set))),
        testing::ElementsAre(AllOf(StartsWith("tara: "), HasSubstr(message))));
  }
  const std::string broken = TemporaryPath("broken.textproto");
  WriteFile(broken, "generations: 2\nsurprise: 1\n");
  EXPECT_THAT(ErrorOf(2, "train " + broken), HasSubstr(broken + ":2:"));
}

}  // namespace
}  // namespace tara::cli
