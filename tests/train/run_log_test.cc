#include "tara/train/run/run_log.h"

#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/files.h"
#include "tara/train/config/config.h"
#include "tara/train/folder/run_folder.h"
#include "tara/train/progress/progress.h"
#include "tests/base/temporary_folder.h"

namespace tara::train {
namespace {

using ::testing::ElementsAreArray;

TEST(RunLogTest, EventsOfSeveralThreadsComeInTheOrderOfTheFile) {
  const std::string folder_path = TestFolder("order");
  const auto config = ParseTrainConfig(
      "", "test.textproto",
      std::vector<std::string>{absl::StrCat("run_dir=", folder_path)});
  ASSERT_TRUE(config.ok()) << config.status().message();
  const auto folder = RunFolder::Open(*config);
  ASSERT_TRUE(folder.ok()) << folder.status().message();
  const std::string printed_path = folder_path + "/printed.jsonl";
  std::FILE* const printed = std::fopen(printed_path.c_str(), "w");
  ASSERT_NE(printed, nullptr);
  {
    Progress progress({.out = printed, .form = ProgressForm::kJson});
    const auto log = RunLog::Open(**folder, progress);
    ASSERT_TRUE(log.ok()) << log.status().message();
    std::vector<std::thread> writers;
    for (int writer = 0; writer < 4; ++writer) {
      writers.emplace_back([&, writer] {
        for (int note = 0; note < 3000; ++note) {
          EXPECT_TRUE((*log)->Note(writer, absl::StrCat("note ", note)).ok());
        }
      });
    }
    for (std::thread& writer : writers) writer.join();
  }
  ASSERT_EQ(std::fclose(printed), 0);
  const auto written = ReadMetricsLines((*folder)->metrics_path());
  ASSERT_TRUE(written.ok()) << written.status().message();
  const auto printed_lines = ReadMetricsLines(printed_path);
  ASSERT_TRUE(printed_lines.ok()) << printed_lines.status().message();
  std::vector<std::string> events;
  for (const std::string& line : *printed_lines) {
    if (absl::StrContains(line, "\"note\"")) events.push_back(line);
  }
  EXPECT_EQ(events.size(), 12000u);
  EXPECT_THAT(events, ElementsAreArray(*written));
}

}  // namespace
}  // namespace tara::train
