#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/files.h"
#include "tara/train/progress/progress.h"
#include "tara/train/run/run_log.h"
#include "tests/base/temporary_folder.h"
#include "tests/status_matchers.h"

namespace tara::train {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(EventLineTest, AnEventIsAnObjectInTheGivenOrder) {
  EXPECT_EQ(EventLine("learning", 3,
                      {{"loss", 0.5},
                       {"done", true},
                       {"games", uint64_t{1} << 40},
                       {"text", "two\nlines, \"quoted\""}}),
            R"({"event":"learning","generation":3,"loss":0.5,"done":true,)"
            R"("games":1099511627776,"text":"two\nlines, \"quoted\""})");
}

TEST(EventLineTest, WhatJsonCannotHoldBecomesNullOrAReplacementCharacter) {
  const auto line = nlohmann::json::parse(
      EventLine("note", 1,
                {{"loss", std::numeric_limits<double>::quiet_NaN()},
                 {"rate", std::numeric_limits<double>::infinity()},
                 {"name", "a\xff"}}));
  EXPECT_TRUE(line["loss"].is_null());
  EXPECT_TRUE(line["rate"].is_null());
  EXPECT_EQ(line["name"], "a\xef\xbf\xbd");  // U+FFFD
}

class MetricsTest : public ::testing::Test {
 protected:
  std::unique_ptr<RunLog> Open() {
    return RunLog::Open(path_, progress_).value();
  }
  void WriteText(const std::string& contents) {
    std::ofstream(path_, std::ios::binary) << contents;
  }

  const TemporaryFolder folder_;
  std::string path_ = folder_.At("metrics.jsonl");
  Progress progress_{ProgressOptions()};
};

TEST_F(MetricsTest, ATornLastLineIsIgnoredByReadersAndCutOffAtReopening) {
  WriteText("1\n2\n{\"n\":");
  EXPECT_THAT(*ReadMetricsLines(path_), ElementsAre("1", "2"));
  ASSERT_THAT(Open()->Append({"3"}), IsOk());
  EXPECT_THAT(*ReadMetricsLines(path_), ElementsAre("1", "2", "3"));
}

TEST_F(MetricsTest, AFailedWriteIsReportedAndLeavesNoTornLine) {
  const auto file = Open();
  ASSERT_THAT(file->Append({"1234567"}), IsOk());
  // Files of this process may grow to 12 bytes: the next write is cut short.
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit tight = before;
  tight.rlim_cur = 12;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  const absl::Status status = file->Append({"2345678"});
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr(path_));
  EXPECT_EQ(*ReadWholeFile(path_), "1234567\n");
  EXPECT_THAT(file->Append({"3"}), IsOk());
  EXPECT_THAT(*ReadMetricsLines(path_), ElementsAre("1234567", "3"));
}

TEST_F(MetricsTest, AMissingFileIsNotFound) {
  EXPECT_THAT(ReadMetricsLines(path_),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr(path_)));
}

TEST_F(MetricsTest, EventsOfSeveralThreadsComeInTheOrderOfTheFile) {
  const std::string printed_path = folder_.At("printed.jsonl");
  std::FILE* const printed = std::fopen(printed_path.c_str(), "w");
  {
    Progress progress({.out = printed, .form = ProgressForm::kJson});
    const auto log = RunLog::Open(path_, progress).value();
    std::vector<std::thread> writers;
    for (int writer = 0; writer < 4; ++writer) {
      writers.emplace_back([&, writer] {
        for (int note = 0; note < 3000; ++note) {
          EXPECT_THAT(log->Append({EventLine("note", writer, {{"n", note}})}),
                      IsOk());
        }
      });
    }
    for (std::thread& writer : writers) writer.join();
  }
  ASSERT_EQ(std::fclose(printed), 0);
  auto events = ReadMetricsLines(printed_path).value();
  std::erase_if(events, [](const std::string& line) {
    return !absl::StrContains(line, "\"note\"");
  });
  EXPECT_EQ(events.size(), 12000u);
  EXPECT_EQ(events, *ReadMetricsLines(path_));
}

}  // namespace
}  // namespace tara::train
