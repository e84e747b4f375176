#include "tara/train/folder/run_folder.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/files.h"
#include "tara/train/config/config.h"
#include "tara/train/folder/checkpoints.h"
#include "tests/base/temporary_folder.h"
#include "tests/status_matchers.h"
#include "tests/train/train_testing.h"

namespace tara::train {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

proto::TrainConfig ConfigIn(const std::string& run_dir) {
  return ParseTrainConfig("seed: 3 network { channels: 8 }", "test.textproto",
                          std::vector<std::string>{"run_dir=" + run_dir})
      .value();
}

void Touch(const std::string& path) { std::ofstream(path) << "x"; }

TEST(RunFolderTest, ASecondHolderIsRefusedAndToldWhy) {
  const proto::TrainConfig config = ConfigIn(TestFolder("lock"));
  auto first = RunFolder::Open(config).value();
  EXPECT_THAT(RunFolder::Open(config),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("another process is training")));
  first.reset();
  EXPECT_THAT(RunFolder::Open(config), IsOk());
}

TEST(RunFolderTest, CheckpointsGoByTheFilesAndNotByLatest) {
  const std::string path = TestFolder("newest");
  const auto folder = RunFolder::Open(ConfigIn(path)).value();
  EXPECT_FALSE(HasCheckpoints(path));
  EXPECT_THAT(*folder->Checkpoints(), IsEmpty());
  Touch(folder->checkpoint_path(2));
  Touch(folder->checkpoint_path(11));
  Touch(path + "/checkpoints/ckpt-000012.pt.tmp");
  Touch(path + "/checkpoints/notes.pt");
  ASSERT_TRUE(folder->PublishLatest(2).ok());
  EXPECT_TRUE(HasCheckpoints(path));
  EXPECT_THAT(*folder->Checkpoints(), ElementsAre(2, 11));
  EXPECT_EQ(*LatestCheckpoint(path), path + "/checkpoints/ckpt-000002.pt");
}

TEST(RunFolderTest, OpeningRemovesHalfWrittenFilesAndNoOthers) {
  const std::string path = TestFolder("leftovers");
  ASSERT_THAT(RunFolder::Open(ConfigIn(path)), IsOk());
  const std::string leftover = path + "/checkpoints/ckpt-000012.pt.tmp";
  const std::vector<std::string> others = {
      path + "/notes.tmpl", path + "/x.tmp.bak", path + "/.tmp_notes",
      path + "/checkpoints/best.tmp.pt", path + "/folder.tmp"};
  std::filesystem::create_directory(path + "/folder.tmp");
  Touch(leftover);
  for (const std::string& other : others) Touch(other);
  // Where the config is refused, nothing is removed.
  proto::TrainConfig config = ConfigIn(path);
  config.set_seed(4);
  EXPECT_THAT(RunFolder::Open(config),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_TRUE(std::filesystem::exists(leftover));
  ASSERT_THAT(RunFolder::Open(ConfigIn(path)), IsOk());
  EXPECT_FALSE(std::filesystem::exists(leftover));
  for (const std::string& other : others) {
    EXPECT_TRUE(std::filesystem::exists(other)) << other;
  }
}

TEST(RunFolderTest, CheckingAFolderMakesNone) {
  const std::string path = TestFolder("check");
  EXPECT_TRUE(CheckRunFolder(ConfigIn(path + "/not/yet")).ok());
  EXPECT_FALSE(std::filesystem::exists(path + "/not"));
  Touch(path + "/file");
  const auto in_the_way = CheckRunFolder(ConfigIn(path + "/file/run"));
  EXPECT_THAT(in_the_way, StatusIs(absl::StatusCode::kFailedPrecondition,
                                   AllOf(HasSubstr("run_dir: "),
                                         HasSubstr("file is not a folder"))));
}

TEST(RunFolderTest, AFolderWithoutCheckpointsHasNoLatest) {
  const auto latest = LatestCheckpoint(TestFolder("no_run"));
  EXPECT_EQ(latest.status().code(), absl::StatusCode::kNotFound);
}

// --- Run state ---------------------------------------------------------------

RunStateFile OpenState(const std::string& path) {
  return RunStateFile::Open(path).value();
}

proto::GenerationPlan PlanOf(int generation, uint64_t begin) {
  proto::GenerationPlan plan;
  plan.set_generation(generation);
  plan.set_begin(begin);
  return plan;
}

TEST(RunStateTest, WhatWasSavedIsReadBack) {
  const std::string path = TestFolder("state") + "/state.textproto";
  RunStateFile file = OpenState(path);
  EXPECT_EQ(file.PlanOf(0), nullptr);
  ASSERT_THAT(file.AddPlan(PlanOf(3, 600)), IsOk());
  ASSERT_TRUE(file.Save().ok());
  const RunStateFile again = OpenState(path);
  ASSERT_NE(again.PlanOf(3), nullptr);
  EXPECT_EQ(again.PlanOf(3)->begin(), 600u);
  EXPECT_EQ(again.PlanOf(2), nullptr);
}

TEST(RunStateTest, OldPlansAreForgottenSoThatTheFileStaysSmall) {
  const std::string path = TestFolder("plans") + "/state.textproto";
  RunStateFile file = OpenState(path);
  for (int generation = 0; generation < 100; ++generation) {
    ASSERT_THAT(file.AddPlan(PlanOf(generation, 0)), IsOk());
  }
  EXPECT_EQ(OpenState(path).state().plan_size(), 64);
  EXPECT_NE(file.PlanOf(99), nullptr);
  EXPECT_EQ(file.PlanOf(35), nullptr);
}

TEST(RunStateTest, ADamagedFileIsNamedWithItsLineAndWhatItIsFor) {
  const std::string path = TestFolder("damaged") + "/state.textproto";
  std::ofstream(path) << "evaluated: 1\nplna { }\n";
  const absl::Status status = RunStateFile::Open(path).status();
  EXPECT_THAT(status,
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr(path + ":2:")));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("Without this file the run resumes"));
}

TEST(RunStateTest, APartOfAFileOrAnotherNumberInItIsDamage) {
  const std::string path = TestFolder("cut") + "/state.textproto";
  RunStateFile file = OpenState(path);
  for (int generation = 0; generation < 3; ++generation) {
    ASSERT_THAT(file.AddPlan(PlanOf(generation, 100 * generation)), IsOk());
  }
  const std::string whole = *ReadWholeFile(path);
  const auto status_of = [&](const std::string& contents) {
    std::ofstream(path, std::ios::binary) << contents;
    return RunStateFile::Open(path).status();
  };
  ASSERT_TRUE(status_of(whole).ok());
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(status_of(whole.substr(0, size)),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr(path + ":")));
  }
  std::string changed = whole;
  changed[whole.find("100")] = '9';
  EXPECT_EQ(status_of(changed).code(), absl::StatusCode::kDataLoss);
}

TEST(RunStateTest, AFileOfAnOlderVersionHasNoChecksum) {
  const std::string path = TestFolder("older") + "/state.textproto";
  std::ofstream(path) << "# Where the run stands; written by the program.\n"
                         "plan {\n  begin: 6\n}\n"
                         "score { variant: 'four_treasures' score: 0.5 }\n";
  EXPECT_EQ(OpenState(path).PlanOf(0)->begin(), 6u);
}

// --- Run provenance ----------------------------------------------------------

constexpr char kConfig[] = R"pb(
  run_dir: "/somewhere/else"
  variant: "high_kings_l1"
  variant: "four_treasures"
  rule_options: "no_progress_limit=20"
  seed: 77
  init_from: "/somewhere/else/first.pt"
  games_from: "/somewhere/else/games.db"
)pb";

// Of two generations, the second without an evaluation of its own.
constexpr char kMetrics[] =
    R"({"event":"self_play","generation":0,"games":30}
{"event":"strength","generation":1,"final":false,"variant":"four_treasures","opponent":"greedy","games":10,"score":0.25,"score_low":0.1,"score_high":0.4}
{"event":"self_play","generation":1,"games":40}
{"event":"strength","generation":2,"final":false,"variant":"four_treasures","opponent":"greedy","games":20,"score":0.5,"score_low":0.4,"score_high":0.6}
{"event":"strength","generation":2,"final":true,"variant":"four_treasures","opponent":"random","games":200,"score":0.9,"score_low":0.8,"score_high":1}
{"event":"self_play","generation":2,"games":50}
{"event":"strength","generation":4,"fin)";

class RunProvenanceTest : public ::testing::Test {
 protected:
  RunProvenanceTest() {
    std::filesystem::create_directories(run_.At("checkpoints"));
    Write("config.textproto", kConfig);
    Write("metrics.jsonl", kMetrics);
    Write("state.textproto",
          "seconds: 12.5 cpu_seconds: 20 generations: 3 "
          "unfinished_seconds: 4 unfinished_cpu_seconds: 6 "
          "begun_with_crc32c: '0a1b2c3d'\n");
    Write("checkpoints/latest", "ckpt-000003.pt\n");
    Write("checkpoints/ckpt-000003.pt", "");
  }

  void Write(const std::string& name, const std::string& text) {
    EXPECT_TRUE(WriteFileAtomically(run_.At(name), text).ok());
  }

  // The provenance of the checkpoint after `generation`.
  RunProvenance Of(int generation) {
    const auto found = ProvenanceOf(
        run_.At(absl::StrCat("checkpoints/ckpt-00000", generation, ".pt")),
        {.shape = {},
         .progress = {.step = 100 * generation,
                      .generation = generation,
                      .samples = 6400},
         .optimizer_steps = 0,
         .tensors = {}});
    EXPECT_TRUE(found.ok()) << found.status();
    return found.value_or(RunProvenance());
  }

  const TemporaryFolder run_;
};

TEST_F(RunProvenanceTest, TellsOfTheRunWhatItsFolderKnows) {
  const RunProvenance found = Of(3);
  EXPECT_EQ(found.provenance.run, "TellsOfTheRunWhatItsFolderKnows");
  EXPECT_EQ(found.provenance.checkpoint, "ckpt-000003");
  EXPECT_EQ(found.provenance.steps, 300);
  EXPECT_EQ(found.provenance.games, 30 + 40 + 50);
  EXPECT_EQ(found.provenance.seed, 77u);
  EXPECT_EQ(found.provenance.training_seconds, 12.5);
  EXPECT_EQ(found.provenance.processor_seconds, 20);
  EXPECT_EQ(found.provenance.begun_with, "first.pt");
  EXPECT_EQ(found.provenance.begun_with_crc32c, "0a1b2c3d");
  ASSERT_EQ(found.variants.size(), 2u);
  EXPECT_EQ(found.variants[0].variant, Variant::kHighKingsL1);
  EXPECT_EQ(found.variants[0].options.no_progress_limit, 20);
  // Where the option does not apply it has its default.
  EXPECT_EQ(found.variants[1].options, RuleOptions());
}

TEST_F(RunProvenanceTest, PathsOfThisMachineAreLeftOut) {
  const std::string config = Of(3).provenance.config;
  EXPECT_THAT(config, HasSubstr("seed: 77"));
  EXPECT_THAT(config, HasSubstr("first.pt"));
  EXPECT_EQ(Of(3).provenance.begun_with, "first.pt");
  EXPECT_THAT(config, Not(HasSubstr("/somewhere")));
}

TEST_F(RunProvenanceTest, TheLastEvaluationUpToACheckpointIsItsScore) {
  EXPECT_THAT(Of(3).provenance.scores,
              ElementsAre(Field(&nn::BundleScore::opponent, "random")));
  EXPECT_EQ(Of(3).provenance.scores[0].generation, 2);
  EXPECT_THAT(Of(1).provenance.scores,
              ElementsAre(Field(&nn::BundleScore::score, 0.25)));
  EXPECT_THAT(Of(0).provenance.scores, IsEmpty());
  // An older one has its games too, but no time.
  EXPECT_EQ(Of(1).provenance.games, 30);
  EXPECT_FALSE(Of(1).provenance.training_seconds.has_value());
}

TEST_F(RunProvenanceTest, TheTimeIsThatUpToTheCheckpoint) {
  // Its evaluation goes on: its generation is learned, but not done.
  Write("state.textproto",
        "seconds: 12.5 cpu_seconds: 20 generations: 2 "
        "unfinished_seconds: 4 unfinished_cpu_seconds: 6\n");
  EXPECT_EQ(Of(3).provenance.training_seconds, 16.5);
  EXPECT_EQ(Of(3).provenance.processor_seconds, 26);
  // Later ones did not pass the gate.
  Write("state.textproto", "seconds: 12.5 cpu_seconds: 20 generations: 5\n");
  EXPECT_FALSE(Of(3).provenance.training_seconds.has_value());
}

TEST_F(RunProvenanceTest, AFileElsewhereTellsOfItselfAlone) {
  std::filesystem::remove(run_.At("config.textproto"));
  const RunProvenance found = Of(3);
  EXPECT_EQ(found.provenance.checkpoint, "ckpt-000003");
  EXPECT_EQ(found.provenance.run, "");
  EXPECT_FALSE(found.provenance.games.has_value());
  EXPECT_THAT(found.variants, IsEmpty());
}

TEST_F(RunProvenanceTest, ADamagedConfigIsAnErrorThatNamesIt) {
  Write("config.textproto", "variant: 3");
  const auto found = ProvenanceOf(run_.At("checkpoints/ckpt-000003.pt"), {});
  EXPECT_THAT(std::string(found.status().message()),
              HasSubstr("config.textproto"));
}

// --- Retention ---------------------------------------------------------------

proto::RetentionConfig Keep(uint32_t last, uint32_t every) {
  proto::RetentionConfig config;
  config.set_keep_last_checkpoints(last);
  config.set_keep_every_checkpoints(every);
  return config;
}

std::vector<int> UpTo(int newest) {
  std::vector<int> there(newest + 1);
  std::iota(there.begin(), there.end(), 0);
  return there;
}

TEST(RetentionTest, TheFirstTheNewestEveryNthAndWhatIsNeededAreKept) {
  EXPECT_THAT(CheckpointsToRemove(UpTo(12), Keep(2, 5), {}),
              ElementsAre(2, 3, 4, 6, 7, 8, 9));
  EXPECT_THAT(CheckpointsToRemove(UpTo(6), Keep(1, 0), {3, 5}),
              ElementsAre(2, 4));
  // Zero and zero keep all.
  EXPECT_THAT(CheckpointsToRemove(UpTo(100), Keep(0, 0), {}), IsEmpty());
}

TEST(RetentionTest, ALongRunKeepsAsManyAsItsConfigSays) {
  // Thinned after each generation, as a run does it.
  std::vector<int> there = {0};
  for (int newest = 1; newest <= 300; ++newest) {
    there.push_back(newest);
    for (const int old :
         CheckpointsToRemove(there, Keep(10, 10), {newest, newest - 1})) {
      there.erase(std::find(there.begin(), there.end(), old));
    }
  }
  // 0 and 1; 10, 20, ..., 290; 291 to 300.
  EXPECT_EQ(there.size(), 2u + 29u + 10u);
  EXPECT_THAT(CheckpointsToRemove(there, Keep(10, 10), {300}), IsEmpty());
}

}  // namespace
}  // namespace tara::train
