#include "tara/train/folder/run_folder.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/train/config/config.h"
#include "tests/train/train_testing.h"

namespace tara::train {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

proto::TrainConfig ConfigIn(const std::string& run_dir) {
  const auto config =
      ParseTrainConfig("seed: 3 network { channels: 8 }", "test.textproto",
                       std::vector<std::string>{"run_dir=" + run_dir});
  EXPECT_TRUE(config.ok()) << config.status().message();
  return *config;
}

void Touch(const std::string& path) { std::ofstream(path) << "x"; }

TEST(RunFolderTest, ASecondHolderIsRefusedAndToldWhy) {
  const proto::TrainConfig config = ConfigIn(TestFolder("lock"));
  auto first = RunFolder::Open(config);
  ASSERT_TRUE(first.ok()) << first.status().message();
  const auto second = RunFolder::Open(config);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(second.status().message()),
              HasSubstr("another process is training"));
  first->reset();
  EXPECT_TRUE(RunFolder::Open(config).ok());
}

TEST(RunFolderTest, ARunDoesNotGoOnWithAnotherNetworkOrSeed) {
  proto::TrainConfig config = ConfigIn(TestFolder("config"));
  ASSERT_TRUE(RunFolder::Open(config).ok());
  config.set_generations(99);  // may change
  EXPECT_TRUE(RunFolder::Open(config).ok());
  config.mutable_network()->set_channels(16);
  const auto other_network = RunFolder::Open(config);
  EXPECT_EQ(other_network.status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(other_network.status().message()),
              HasSubstr("network.channels"));
  config.mutable_network()->set_channels(8);
  config.set_seed(4);
  EXPECT_EQ(RunFolder::Open(config).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(RunFolderTest, CheckpointsGoByTheFilesAndNotByLatest) {
  const std::string path = TestFolder("newest");
  const auto folder = RunFolder::Open(ConfigIn(path));
  ASSERT_TRUE(folder.ok()) << folder.status().message();
  EXPECT_FALSE(HasCheckpoints(path));
  EXPECT_THAT(*(*folder)->Checkpoints(), IsEmpty());
  Touch((*folder)->checkpoint_path(2));
  Touch((*folder)->checkpoint_path(11));
  Touch(path + "/checkpoints/ckpt-000012.pt.tmp");
  Touch(path + "/checkpoints/notes.pt");
  ASSERT_TRUE((*folder)->PublishLatest(2).ok());
  EXPECT_TRUE(HasCheckpoints(path));
  EXPECT_THAT(*(*folder)->Checkpoints(), ElementsAre(2, 11));
  EXPECT_EQ(*LatestCheckpoint(path), path + "/checkpoints/ckpt-000002.pt");
}

TEST(RunFolderTest, OpeningRemovesHalfWrittenFiles) {
  const std::string path = TestFolder("leftovers");
  ASSERT_TRUE(RunFolder::Open(ConfigIn(path)).ok());
  const std::string leftover = path + "/checkpoints/ckpt-000012.pt.tmp";
  Touch(leftover);
  ASSERT_TRUE(RunFolder::Open(ConfigIn(path)).ok());
  EXPECT_FALSE(std::filesystem::exists(leftover));
}

TEST(RunFolderTest, OtherFilesStay) {
  const std::string path = TestFolder("others");
  ASSERT_TRUE(RunFolder::Open(ConfigIn(path)).ok());
  std::filesystem::create_directory(path + "/folder.tmp");
  const std::vector<std::string> others = {
      path + "/notes.tmpl", path + "/x.tmp.bak", path + "/.tmp_notes",
      path + "/checkpoints/best.tmp.pt"};
  for (const std::string& other : others) Touch(other);
  ASSERT_TRUE(RunFolder::Open(ConfigIn(path)).ok());
  for (const std::string& other : others) {
    EXPECT_TRUE(std::filesystem::exists(other)) << other;
  }
  EXPECT_TRUE(std::filesystem::exists(path + "/folder.tmp"));
}

TEST(RunFolderTest, WhereTheConfigIsRefusedNothingIsRemoved) {
  const std::string path = TestFolder("refused");
  ASSERT_TRUE(RunFolder::Open(ConfigIn(path)).ok());
  const std::string leftover = path + "/checkpoints/ckpt-000012.pt.tmp";
  Touch(leftover);
  proto::TrainConfig config = ConfigIn(path);
  config.set_seed(4);
  ASSERT_FALSE(RunFolder::Open(config).ok());
  EXPECT_TRUE(std::filesystem::exists(leftover));
}

TEST(RunFolderTest, CheckingAFolderMakesNone) {
  const std::string path = TestFolder("check");
  EXPECT_TRUE(CheckRunFolder(ConfigIn(path + "/not/yet")).ok());
  EXPECT_FALSE(std::filesystem::exists(path + "/not"));
  Touch(path + "/file");
  const auto in_the_way = CheckRunFolder(ConfigIn(path + "/file/run"));
  EXPECT_EQ(in_the_way.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(in_the_way.status().message()),
              AllOf(HasSubstr("run_dir: "), HasSubstr("file is no folder")));
}

TEST(RunFolderTest, AFolderThatCannotBeMadeIsAnErrorThatNamesIt) {
  const std::string path = TestFolder("file") + "/in_the_way";
  Touch(path);
  const auto folder = RunFolder::Open(ConfigIn(path));
  EXPECT_EQ(folder.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(folder.status().message()), HasSubstr("in_the_way"));
}

TEST(RunFolderTest, AFolderWithoutCheckpointsHasNoLatest) {
  const auto latest = LatestCheckpoint(TestFolder("no_run"));
  EXPECT_EQ(latest.status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace tara::train
