#include "tara/train/folder/run_provenance.h"

#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/atomic_file.h"
#include "tests/base/temporary_folder.h"

namespace tara::train {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kConfig[] = R"pb(
  run_dir: "/somewhere/else"
  variant: "high_kings_l1"
  variant: "four_treasures"
  rule_options: "no_progress_limit=20"
  seed: 77
  init_from: "/somewhere/else/first.pt"
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
}

TEST_F(RunProvenanceTest, AnOlderCheckpointHasItsGamesButNoTime) {
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

}  // namespace
}  // namespace tara::train
