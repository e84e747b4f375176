#include <sys/resource.h>

#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/files.h"
#include "tara/base/json.h"
#include "tara/train/progress/progress.h"
#include "tests/base/temporary_folder.h"

namespace tara::train {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

absl::Status Append(MetricsFile& file, const nlohmann::ordered_json& line) {
  return file.AppendLines({JsonText(line)});
}

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
  ASSERT_TRUE(Append(*file, {{"kind", "learning"},
                             {"generation", 3},
                             {"loss", 0.5},
                             {"done", true},
                             {"games", uint64_t{1} << 40}})
                  .ok());
  ASSERT_TRUE(Append(*file, {{"text", "two\nlines, \"quoted\""}}).ok());
  EXPECT_EQ(*ReadWholeFile(path_),
            "{\"kind\":\"learning\",\"generation\":3,\"loss\":0.5,"
            "\"done\":true,\"games\":1099511627776}\n"
            "{\"text\":\"two\\nlines, \\\"quoted\\\"\"}\n");
}

TEST_F(MetricsTest, WhatJsonCannotHoldBecomesNullOrAReplacementCharacter) {
  ASSERT_TRUE(
      Append(*Open(), {{"loss", std::numeric_limits<double>::quiet_NaN()},
                       {"rate", std::numeric_limits<double>::infinity()},
                       {"name", "a\xff"}})
          .ok());
  const auto line = nlohmann::json::parse(ReadMetricsLines(path_)->front());
  EXPECT_TRUE(line["loss"].is_null());
  EXPECT_TRUE(line["rate"].is_null());
  EXPECT_EQ(line["name"], "a\xef\xbf\xbd");  // U+FFFD
}

TEST_F(MetricsTest, ReopeningGoesOnAfterTheLastLine) {
  ASSERT_TRUE(Append(*Open(), {{"n", 1}}).ok());
  ASSERT_TRUE(Append(*Open(), {{"n", 2}}).ok());
  EXPECT_THAT(*ReadMetricsLines(path_), ElementsAre("{\"n\":1}", "{\"n\":2}"));
}

TEST_F(MetricsTest, ATornLastLineIsIgnoredByReadersAndCutOffAtReopening) {
  WriteText("{\"n\":1}\n{\"n\":2}\n{\"n\":");
  EXPECT_THAT(*ReadMetricsLines(path_), ElementsAre("{\"n\":1}", "{\"n\":2}"));
  ASSERT_TRUE(Append(*Open(), {{"n", 3}}).ok());
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
            Append(*file, {{"thread", t}, {"text", std::string(500, 'x')}})
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
  ASSERT_TRUE(Append(*file, {{"n", 1}}).ok());  // 8 bytes
  // Files of this process may grow to 12 bytes: the next write is cut short.
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit tight = before;
  tight.rlim_cur = 12;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  const absl::Status status = Append(*file, {{"n", 2}});
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr(path_));
  EXPECT_EQ(*ReadWholeFile(path_), "{\"n\":1}\n");
  EXPECT_TRUE(Append(*file, {{"n", 3}}).ok());
  EXPECT_THAT(*ReadMetricsLines(path_), ElementsAre("{\"n\":1}", "{\"n\":3}"));
}

TEST_F(MetricsTest, AMissingFileIsNotFound) {
  const absl::Status status = ReadMetricsLines(path_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr(path_));
}

// --- Tensorboard -------------------------------------------------------------

// A reader of its own: it shares nothing with the writer, neither the CRC nor
// the Protobuf library, so that it checks the format and not the code.

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

uint32_t Unmask(uint32_t masked) {
  const uint32_t rotated = masked - 0xa282ead8u;
  return (rotated >> 17) | (rotated << 15);
}

// Takes bytes from the front of a string; little-endian.
class Bytes {
 public:
  explicit Bytes(std::string bytes) : bytes_(std::move(bytes)) {}

  bool empty() const { return at_ == bytes_.size(); }
  std::string Take(size_t size) {
    EXPECT_LE(at_ + size, bytes_.size()) << "the file is too short";
    const std::string taken = bytes_.substr(at_, size);
    at_ += taken.size();
    return taken;
  }
  template <typename T>
  T TakeNumber() {
    const std::string taken = Take(sizeof(T));
    T value{};
    if (taken.size() == sizeof(T)) std::memcpy(&value, taken.data(), sizeof(T));
    return value;
  }
  uint64_t TakeVarint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const uint8_t byte = TakeNumber<uint8_t>();
      value |= uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) break;
    }
    return value;
  }

 private:
  const std::string bytes_;
  size_t at_ = 0;
};

struct Event {
  double wall_time = 0;
  int64_t step = 0;
  std::string file_version;
  std::string tag;
  float value = 0;
};

// Protobuf's keys: field number * 8 + wire type (0 varint, 1 eight bytes, 2
// with a length, 5 four bytes).
void ParseValue(const std::string& data, Event& event) {
  Bytes bytes(data);
  while (!bytes.empty()) {
    switch (bytes.TakeVarint()) {
      case 1 * 8 + 2:
        event.tag = bytes.Take(bytes.TakeVarint());
        break;
      case 2 * 8 + 5:
        event.value = bytes.TakeNumber<float>();
        break;
      default:
        FAIL() << "unknown key in a Value";
    }
  }
}

Event ParseEvent(const std::string& data) {
  Event event;
  Bytes bytes(data);
  while (!bytes.empty()) {
    switch (const uint64_t key = bytes.TakeVarint()) {
      case 1 * 8 + 1:
        event.wall_time = bytes.TakeNumber<double>();
        break;
      case 2 * 8 + 0:
        event.step = static_cast<int64_t>(bytes.TakeVarint());
        break;
      case 3 * 8 + 2:
        event.file_version = bytes.Take(bytes.TakeVarint());
        break;
      case 5 * 8 + 2: {
        Bytes summary(bytes.Take(bytes.TakeVarint()));
        EXPECT_EQ(summary.TakeVarint(), 1u * 8 + 2);
        ParseValue(summary.Take(summary.TakeVarint()), event);
        EXPECT_TRUE(summary.empty());
        break;
      }
      default:
        ADD_FAILURE() << "unknown key " << key;
        return event;
    }
  }
  return event;
}

std::vector<Event> ReadEvents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Bytes bytes(std::string(std::istreambuf_iterator<char>(file), {}));
  std::vector<Event> events;
  while (!bytes.empty() && !::testing::Test::HasFailure()) {
    const std::string length = bytes.Take(8);
    EXPECT_EQ(Unmask(bytes.TakeNumber<uint32_t>()), SlowCrc32c(length));
    uint64_t size = 0;
    std::memcpy(&size, length.data(), length.size());
    const std::string data = bytes.Take(size);
    EXPECT_EQ(Unmask(bytes.TakeNumber<uint32_t>()), SlowCrc32c(data));
    events.push_back(ParseEvent(data));
  }
  return events;
}

class TensorBoardTest : public ::testing::Test {
 protected:
  std::unique_ptr<EventWriter> Create() {
    absl::StatusOr<std::unique_ptr<EventWriter>> writer =
        EventWriter::Create(folder_);
    EXPECT_TRUE(writer.ok()) << writer.status();
    return writer.ok() ? *std::move(writer) : nullptr;
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
  writer->Scalar("loss/policy", 0.625, 0);
  writer->Scalar("loss/policy", -2.5, 1);
  // A tag of more than 127 bytes and a step of more than 32 bits need varints
  // of several bytes.
  const std::string long_tag(300, 't');
  writer->Scalar(long_tag, 1e30, int64_t{1} << 40);
  ASSERT_TRUE(writer->Flush().ok());

  const std::vector<Event> events = ReadEvents(writer->path());
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0].file_version, "brain.Event:2");
  EXPECT_EQ(events[1].tag, "loss/policy");
  EXPECT_EQ(events[1].value, 0.625f);
  EXPECT_EQ(events[1].step, 0);
  EXPECT_EQ(events[2].tag, "loss/policy");
  EXPECT_EQ(events[2].value, -2.5f);
  EXPECT_EQ(events[2].step, 1);
  EXPECT_EQ(events[3].tag, long_tag);
  EXPECT_EQ(events[3].value, 1e30f);
  EXPECT_EQ(events[3].step, int64_t{1} << 40);
  for (const Event& event : events) EXPECT_GE(event.wall_time, before);
}

TEST_F(TensorBoardTest, FlushAppendsAndTheDestructorWritesTheRest) {
  std::unique_ptr<EventWriter> writer = Create();
  const std::string path = writer->path();
  writer->Scalar("a", 1, 1);
  ASSERT_TRUE(writer->Flush().ok());
  EXPECT_EQ(ReadEvents(path).size(), 2u);
  ASSERT_TRUE(writer->Flush().ok());
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
