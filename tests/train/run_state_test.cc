#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/atomic_file.h"
#include "tara/train/folder/run_folder.h"
#include "tests/train/train_testing.h"

namespace tara::train {
namespace {

using ::testing::HasSubstr;

RunStateFile OpenState(const std::string& path) {
  auto file = RunStateFile::Open(path);
  EXPECT_TRUE(file.ok()) << file.status();
  return *std::move(file);
}

TEST(RunStateTest, WhatWasSavedIsReadBack) {
  const std::string path = TestFolder("state") + "/state.textproto";
  RunStateFile file = OpenState(path);
  EXPECT_EQ(file.PlanOf(0), nullptr);
  proto::GenerationPlan plan;
  plan.set_generation(3);
  plan.set_begin(600);
  plan.set_model(2);
  ASSERT_TRUE(file.AddPlan(plan).ok());
  file.SetScores(
      {{.variant = "four_treasures", .opponent = "a", .score = 0.25},
       {.variant = "high_kings_l1", .opponent = "a", .score = 1},
       {.variant = "four_treasures", .opponent = "b", .score = 0.75}});
  ASSERT_TRUE(file.Save().ok());
  const RunStateFile again = OpenState(path);
  ASSERT_NE(again.PlanOf(3), nullptr);
  EXPECT_EQ(again.PlanOf(3)->begin(), 600u);
  EXPECT_EQ(again.PlanOf(2), nullptr);
  ASSERT_EQ(again.state().score_size(), 2);
  EXPECT_EQ(again.state().score(0).variant(), "four_treasures");
  EXPECT_DOUBLE_EQ(again.state().score(0).score(), 0.5);  // of two opponents
}

TEST(RunStateTest, OldPlansAreForgottenSoThatTheFileStaysSmall) {
  const std::string path = TestFolder("plans") + "/state.textproto";
  RunStateFile file = OpenState(path);
  for (int generation = 0; generation < 100; ++generation) {
    proto::GenerationPlan plan;
    plan.set_generation(generation);
    ASSERT_TRUE(file.AddPlan(plan).ok());
  }
  EXPECT_EQ(OpenState(path).state().plan_size(), 64);
  EXPECT_NE(file.PlanOf(99), nullptr);
  EXPECT_EQ(file.PlanOf(35), nullptr);
}

TEST(RunStateTest, ADamagedFileIsNamedWithItsLineAndWhatItIsFor) {
  const std::string path = TestFolder("damaged") + "/state.textproto";
  std::ofstream(path) << "restorations: 1\nplna { }\n";
  const absl::Status status = RunStateFile::Open(path).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr(path + ":2:"));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("Without this file the run goes on"));
}

TEST(RunStateTest, APartOfAFileOrAnotherNumberInItIsDamage) {
  const std::string path = TestFolder("cut") + "/state.textproto";
  RunStateFile file = OpenState(path);
  for (int generation = 0; generation < 3; ++generation) {
    proto::GenerationPlan plan;
    plan.set_generation(generation);
    plan.set_begin(100 * generation);
    ASSERT_TRUE(file.AddPlan(plan).ok());
  }
  const std::string whole = *ReadWholeFile(path);
  const auto status_of = [&](const std::string& contents) {
    std::ofstream(path, std::ios::binary) << contents;
    return RunStateFile::Open(path).status();
  };
  ASSERT_TRUE(status_of(whole).ok());
  for (size_t size = 0; size < whole.size(); ++size) {
    const absl::Status status = status_of(whole.substr(0, size));
    ASSERT_EQ(status.code(), absl::StatusCode::kDataLoss) << size;
    ASSERT_THAT(std::string(status.message()), HasSubstr(path + ":"));
  }
  std::string changed = whole;
  changed[whole.find("100")] = '9';
  EXPECT_EQ(status_of(changed).code(), absl::StatusCode::kDataLoss);
}

TEST(RunStateTest, AFileOfAnOlderVersionHasNoChecksum) {
  const std::string path = TestFolder("older") + "/state.textproto";
  std::ofstream(path) << "# Where the run stands; written by the program.\n"
                         "plan {\n  begin: 6\n}\n";
  EXPECT_EQ(OpenState(path).PlanOf(0)->begin(), 6u);
}

}  // namespace
}  // namespace tara::train
