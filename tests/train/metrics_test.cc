#include "tara/train/progress/metrics.h"

#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/atomic_file.h"
#include "tests/base/temporary_folder.h"

namespace tara::train {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class MetricsTest : public ::testing::Test {
 protected:
  std::unique_ptr<MetricsFile> Open() {
    absl::StatusOr<std::unique_ptr<MetricsFile>> file =
        MetricsFile::Open(path_);
    EXPECT_TRUE(file.ok()) << file.status();
    return file.ok() ? *std::move(file) : nullptr;
  }

  void WriteText(const std::string& contents) {
    std::ofstream(path_, std::ios::binary) << contents;
  }

  const TemporaryFolder folder_;
  std::string path_ = folder_.At("metrics.jsonl");
};

TEST_F(MetricsTest, EachAppendIsOneJsonObjectALineInTheGivenOrder) {
  std::unique_ptr<MetricsFile> file = Open();
  ASSERT_TRUE(file->Append({{"kind", "learning"},
                            {"generation", 3},
                            {"loss", 0.5},
                            {"done", true},
                            {"games", uint64_t{1} << 40}})
                  .ok());
  ASSERT_TRUE(file->Append({{"text", "two\nlines, \"quoted\""}}).ok());
  EXPECT_EQ(*ReadWholeFile(path_),
            "{\"kind\":\"learning\",\"generation\":3,\"loss\":0.5,"
            "\"done\":true,\"games\":1099511627776}\n"
            "{\"text\":\"two\\nlines, \\\"quoted\\\"\"}\n");
}

TEST_F(MetricsTest, WhatJsonCannotHoldBecomesNullOrAReplacementCharacter) {
  ASSERT_TRUE(Open()
                  ->Append({{"loss", std::numeric_limits<double>::quiet_NaN()},
                            {"rate", std::numeric_limits<double>::infinity()},
                            {"name", "a\xff"}})
                  .ok());
  const auto line = nlohmann::json::parse(ReadMetricsLines(path_)->front());
  EXPECT_TRUE(line["loss"].is_null());
  EXPECT_TRUE(line["rate"].is_null());
  EXPECT_EQ(line["name"], "a\xef\xbf\xbd");  // U+FFFD
}

TEST_F(MetricsTest, ReopeningGoesOnAfterTheLastLine) {
  ASSERT_TRUE(Open()->Append({{"n", 1}}).ok());
  ASSERT_TRUE(Open()->Append({{"n", 2}}).ok());
  EXPECT_THAT(*ReadMetricsLines(path_), ElementsAre("{\"n\":1}", "{\"n\":2}"));
}

TEST_F(MetricsTest, ATornLastLineIsIgnoredByReadersAndCutOffAtReopening) {
  WriteText("{\"n\":1}\n{\"n\":2}\n{\"n\":");
  EXPECT_THAT(*ReadMetricsLines(path_), ElementsAre("{\"n\":1}", "{\"n\":2}"));
  ASSERT_TRUE(Open()->Append({{"n", 3}}).ok());
  EXPECT_THAT(*ReadMetricsLines(path_),
              ElementsAre("{\"n\":1}", "{\"n\":2}", "{\"n\":3}"));
}

TEST_F(MetricsTest, AFileOfNothingButATornLineBecomesEmpty) {
  WriteText("{\"n\":");
  Open();
  EXPECT_EQ(*ReadWholeFile(path_), "");
  EXPECT_THAT(*ReadMetricsLines(path_), IsEmpty());
}

TEST_F(MetricsTest, ThreadsNeverMixTheirLines) {
  constexpr int kThreads = 4;
  constexpr int kLines = 200;
  std::unique_ptr<MetricsFile> file = Open();
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&file, t] {
      for (int i = 0; i < kLines; ++i) {
        EXPECT_TRUE(
            file->Append({{"thread", t}, {"text", std::string(500, 'x')}})
                .ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::vector<std::string> lines = *ReadMetricsLines(path_);
  EXPECT_EQ(lines.size(), kThreads * kLines);
  for (const std::string& line : lines) {
    EXPECT_TRUE(nlohmann::json::accept(line)) << line;
  }
}

TEST_F(MetricsTest, AFailedWriteIsReportedAndLeavesNoTornLine) {
  std::unique_ptr<MetricsFile> file = Open();
  ASSERT_TRUE(file->Append({{"n", 1}}).ok());  // 8 bytes
  // Files of this process may grow to 12 bytes: the next write is cut short.
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit tight = before;
  tight.rlim_cur = 12;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  const absl::Status status = file->Append({{"n", 2}});
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr(path_));
  EXPECT_EQ(*ReadWholeFile(path_), "{\"n\":1}\n");
  EXPECT_TRUE(file->Append({{"n", 3}}).ok());
  EXPECT_THAT(*ReadMetricsLines(path_), ElementsAre("{\"n\":1}", "{\"n\":3}"));
}

TEST_F(MetricsTest, AMissingFileIsNotFound) {
  const absl::Status status = ReadMetricsLines(path_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr(path_));
}

}  // namespace
}  // namespace tara::train
