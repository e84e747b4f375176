#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <sstream>
#include <streambuf>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/engine/line_io.h"
#include "tara/engine/line_session.h"

namespace tara::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ParseLineCommandTest, TakesIdNameAndArgumentsApart) {
  const LineCommand command = ParseLineCommand("  12 play \t D4  # a comment");
  EXPECT_EQ(command.id, "12");
  EXPECT_EQ(command.name, "play");
  EXPECT_THAT(command.arguments, ElementsAre("D4"));
}

TEST(ParseLineCommandTest, CommentsAndEmptyLinesWantNoAnswer) {
  for (const char* line : {"", "   ", "# only 1 comment", "\t#", "\x01\x02"}) {
    EXPECT_TRUE(ParseLineCommand(line).is_nothing()) << line;
  }
}

TEST(ParseLineCommandTest, AnIdAloneIsACommandWithoutAName) {
  const LineCommand command = ParseLineCommand("7");
  EXPECT_FALSE(command.is_nothing());
  EXPECT_EQ(command.id, "7");
  EXPECT_EQ(command.name, "");
}

TEST(ParseLineCommandTest, ControlCharactersAreLeftOut) {
  EXPECT_EQ(ParseLineCommand("na\x07me\r").name, "name");
}

TEST(LineAnswerTest, ABlankLineEndsAnAnswerAndNoneIsWithin) {
  EXPECT_EQ(LineAnswer("3", "one"), "=3 one\n\n");
  EXPECT_EQ(LineAnswer("", ""), "=\n\n");
  EXPECT_EQ(LineAnswer("", "a\n\n\nb\n"), "= a\n \n \nb\n\n");
}

TEST(LineErrorTest, AnErrorIsOneLine) {
  EXPECT_EQ(LineError("4", absl::InvalidArgumentError("no\ngood")),
            "?4 no good\n\n");
}

// Calls `push` of many lines on a thread, and `pop` here, and counts how many
// were ever pushed and not yet popped.
template <typename Push, typename Pop>
int64_t MostThatWait(int64_t lines, const Push& push, const Pop& pop) {
  std::atomic<int64_t> pushed = 0;
  std::thread pushing([&] {
    for (int64_t i = 0; i < lines; ++i) {
      push();
      ++pushed;
    }
  });
  // Not before as many are there as may be, and time for some more.
  while (pushed < std::min(lines, kMaxWaiting)) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  int64_t most = 0;
  for (int64_t popped = 0; popped < lines; ++popped) {
    most = std::max(most, pushed - popped);
    pop();
  }
  pushing.join();
  return most;
}

TEST(LineQueueTest, NoMoreLinesWaitThanMay) {
  LineQueue lines;
  EXPECT_LE(MostThatWait(
                2 * kMaxWaiting, [&] { lines.Push({.text = "name"}); },
                [&] { EXPECT_TRUE(lines.Pop().has_value()); }),
            kMaxWaiting + 1);
}

TEST(LineQueueTest, NoMoreBytesWaitThanMay) {
  constexpr int64_t kBytes = int64_t{1} << 20;
  constexpr auto kMost = static_cast<int64_t>(kMaxWaitingBytes) / kBytes;
  LineQueue lines;
  std::atomic<int64_t> pushed = 0;
  std::thread pushing([&] {
    for (int i = 0; i < 2 * kMost; ++i) {
      lines.Push({.text = std::string(kBytes, 'x')});
      ++pushed;
    }
  });
  while (pushed < kMost) std::this_thread::yield();
  for (int popped = 0; popped < 2 * kMost; ++popped) {
    EXPECT_LE(pushed - popped, kMost + 1);
    EXPECT_TRUE(lines.Pop().has_value());
  }
  pushing.join();
}

// A stream that takes nothing until it is told to.
class BlockedBuffer : public std::streambuf {
 public:
  void Open() {
    absl::MutexLock lock(&mutex_);
    open_ = true;
  }

 private:
  void Wait() {
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(&open_));
  }
  int overflow(int c) override {
    Wait();
    return c;
  }
  std::streamsize xsputn(const char*, std::streamsize size) override {
    Wait();
    return size;
  }

  absl::Mutex mutex_;
  bool open_ ABSL_GUARDED_BY(mutex_) = false;
};

TEST(OutputQueueTest, ThereIsRoomUntilTooMuchWaitsToBeRead) {
  BlockedBuffer buffer;
  std::ostream out(&buffer);
  OutputQueue answers(&out);
  answers.Push("one");
  answers.AwaitRoom();  // at once
  for (size_t bytes = 0; bytes < kMaxWaitingBytes; bytes += size_t{1} << 20) {
    answers.Push(std::string(size_t{1} << 20, 'x'));
  }
  std::atomic<bool> has_room = false;
  std::thread waiting([&] {
    answers.AwaitRoom();
    has_room = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(has_room);
  buffer.Open();
  waiting.join();
}

TEST(ReadLineTest, KeepsNoMoreOfALineThanItMay) {
  std::istringstream in("12345678\nab\r\n\nlast");
  InputLine line;
  ASSERT_TRUE(ReadLine(in, 4, line));
  EXPECT_EQ(line.text, "1234");
  EXPECT_TRUE(line.too_long);
  ASSERT_TRUE(ReadLine(in, 4, line));
  EXPECT_EQ(line.text, "ab");
  EXPECT_FALSE(line.too_long);
  ASSERT_TRUE(ReadLine(in, 4, line));
  EXPECT_THAT(line.text, IsEmpty());
  ASSERT_TRUE(ReadLine(in, 4, line));
  EXPECT_EQ(line.text, "last");
  EXPECT_FALSE(ReadLine(in, 4, line));
}

}  // namespace
}  // namespace tara::engine
