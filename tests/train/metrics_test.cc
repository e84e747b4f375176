// The files of a run for programs: metrics.jsonl and TensorBoard's curves.

#include <sys/resource.h>

#include <algorithm>
#include <bit>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/tensorboard_event.pb.h"
#include "tara/base/files.h"
#include "tara/train/config/config.h"
#include "tara/train/folder/run_folder.h"
#include "tara/train/progress/progress.h"
#include "tara/train/run/run_log.h"
#include "tests/base/temporary_folder.h"
#include "tests/status_matchers.h"

namespace tara::train {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

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
  std::unique_ptr<AppendedFile> Open() { return OpenMetrics(path_).value(); }
  void WriteText(const std::string& contents) {
    std::ofstream(path_, std::ios::binary) << contents;
  }

  const TemporaryFolder folder_;
  std::string path_ = folder_.At("metrics.jsonl");
};

TEST_F(MetricsTest, ATornLastLineIsIgnoredByReadersAndCutOffAtReopening) {
  WriteText("1\n2\n{\"n\":");
  EXPECT_THAT(*ReadMetricsLines(path_), ElementsAre("1", "2"));
  ASSERT_THAT(Open()->Append("3\n"), IsOk());
  EXPECT_THAT(*ReadMetricsLines(path_), ElementsAre("1", "2", "3"));
}

TEST_F(MetricsTest, AFailedWriteIsReportedAndLeavesNoTornLine) {
  const auto file = Open();
  ASSERT_THAT(file->Append("1234567\n"), IsOk());
  // Files of this process may grow to 12 bytes: the next write is cut short.
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit tight = before;
  tight.rlim_cur = 12;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  const absl::Status status = file->Append("2345678\n");
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr(path_));
  EXPECT_EQ(*ReadWholeFile(path_), "1234567\n");
  EXPECT_THAT(file->Append("3\n"), IsOk());
  EXPECT_THAT(*ReadMetricsLines(path_), ElementsAre("1234567", "3"));
}

TEST_F(MetricsTest, AMissingFileIsNotFound) {
  EXPECT_THAT(ReadMetricsLines(path_),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr(path_)));
}

TEST_F(MetricsTest, EventsOfSeveralThreadsComeInTheOrderOfTheFile) {
  const auto config =
      ParseTrainConfig("", "test.textproto",
                       std::vector<std::string>{"run_dir=" + folder_.path()})
          .value();
  const auto folder = RunFolder::Open(config).value();
  const std::string printed_path = folder_.At("printed.jsonl");
  std::FILE* const printed = std::fopen(printed_path.c_str(), "w");
  {
    Progress progress({.out = printed, .form = ProgressForm::kJson});
    const auto log = RunLog::Open(*folder, progress).value();
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
  EXPECT_EQ(events, *ReadMetricsLines(folder->metrics_path()));
}

// --- TensorBoard -------------------------------------------------------------

// A reader whose CRC shares nothing with the writer's.

// CRC-32C bit by bit: reflected polynomial 0x1EDC6F41 (RFC 3720, B.4).
uint32_t SlowCrc32c(const std::string& data) {
  uint32_t crc = 0xffffffff;
  for (const char c : data) {
    crc ^= static_cast<uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78u : 0);
    }
  }
  return ~crc;
}

// Takes a little-endian number from the front of the bytes.
template <typename T>
T Take(std::string& bytes) {
  T value{};
  EXPECT_GE(bytes.size(), sizeof(T)) << "the file is too short";
  std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof(T)));
  bytes.erase(0, sizeof(T));
  return value;
}

// Takes the masked CRC of `data`.
void TakeCrc(const std::string& data, std::string& bytes) {
  EXPECT_EQ(std::rotl(Take<uint32_t>(bytes) - 0xa282ead8u, 15),
            SlowCrc32c(data));
}

std::vector<proto::TensorBoardEvent> ReadEvents(const std::string& path) {
  std::string bytes = ReadWholeFile(path).value();
  std::vector<proto::TensorBoardEvent> events;
  while (!bytes.empty() && !::testing::Test::HasFailure()) {
    const std::string length = bytes.substr(0, 8);
    const auto size = Take<uint64_t>(bytes);
    TakeCrc(length, bytes);
    const std::string data = bytes.substr(0, size);
    bytes.erase(0, size);
    TakeCrc(data, bytes);
    EXPECT_TRUE(events.emplace_back().ParseFromString(data));
  }
  return events;
}

class TensorBoardTest : public ::testing::Test {
 protected:
  std::unique_ptr<EventWriter> Create() {
    return EventWriter::Create(folder_).value();
  }

  const TemporaryFolder parent_;
  const std::string folder_ = parent_.At("events");
};

TEST_F(TensorBoardTest, TheCrcOfThisTestIsTheKnownOne) {
  // RFC 3720, B.4: 32 bytes of zeros; and the usual check value.
  EXPECT_EQ(SlowCrc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(SlowCrc32c("123456789"), 0xe3069283u);
}

TEST_F(TensorBoardTest, AFileHoldsItsVersionAndThenThePoints) {
  const double before = absl::ToDoubleSeconds(absl::Now() - absl::UnixEpoch());
  std::unique_ptr<EventWriter> writer = Create();
  writer->Scalar("loss/policy", -2.5, int64_t{1} << 40);
  ASSERT_THAT(writer->Flush(), IsOk());
  std::vector<proto::TensorBoardEvent> events = ReadEvents(writer->path());
  ASSERT_EQ(events.size(), 2u);
  EXPECT_GE(events[1].wall_time(), before);
  for (proto::TensorBoardEvent& event : events) event.clear_wall_time();
  // TensorBoard's event.proto and summary.proto: keys are field number * 8 +
  // wire type. 3: file_version; 2: step; 5: summary, whose values 1 have a tag
  // 1 and a simple_value 2 (-2.5 is 0xc0200000).
  EXPECT_EQ(events[0].SerializeAsString(),
            "\x1a\x0d"
            "brain.Event:2");
  EXPECT_EQ(events[1].SerializeAsString(),
            std::string("\x10\x80\x80\x80\x80\x80\x20"
                        "\x2a\x14\x0a\x12\x0a\x0bloss/policy\x15\0\0\x20\xc0",
                        29));
  proto::TensorBoardEvent timed;
  timed.set_wall_time(1);
  EXPECT_EQ(timed.SerializeAsString().front(), 1 * 8 + 1);
}

TEST_F(TensorBoardTest, FlushAppendsAndTheDestructorWritesTheRest) {
  std::unique_ptr<EventWriter> writer = Create();
  const std::string path = writer->path();
  writer->Scalar("a", 1, 1);
  ASSERT_THAT(writer->Flush(), IsOk());
  EXPECT_EQ(ReadEvents(path).size(), 2u);
  ASSERT_THAT(writer->Flush(), IsOk());
  EXPECT_EQ(ReadEvents(path).size(), 2u);
  writer->Scalar("a", 2, 2);
  EXPECT_EQ(ReadEvents(path).size(), 2u);
  writer.reset();
  EXPECT_EQ(ReadEvents(path).size(), 3u);
}

TEST_F(TensorBoardTest, EveryWriterHasAFileThatTensorBoardRecognizes) {
  std::unique_ptr<EventWriter> one = Create();
  std::unique_ptr<EventWriter> two = Create();
  EXPECT_NE(one->path(), two->path());
  for (const EventWriter* writer : {one.get(), two.get()}) {
    EXPECT_THAT(std::filesystem::path(writer->path()).filename().string(),
                StartsWith("events.out.tfevents."));
  }
}

TEST_F(TensorBoardTest, AFolderThatCannotBeMadeIsAnError) {
  std::ofstream(folder_) << "a file where the folder should be";
  const absl::Status status = EventWriter::Create(folder_).status();
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr(folder_));
}

}  // namespace
}  // namespace tara::train
