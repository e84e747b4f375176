#include "tara/base/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/clocks.h"

namespace tara {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Far more than anything here takes: tests do not fail on a busy machine.
constexpr absl::Duration kLong = absl::Minutes(5);
// Waited for in vain.
constexpr absl::Duration kShort = absl::Milliseconds(20);

absl::Time Later() { return SteadyTime() + kLong; }
absl::Time Soon() { return SteadyTime() + kShort; }

std::unique_ptr<ChildProcess> Shell(const std::string& script,
                                    const std::string& log = "") {
  auto process =
      ChildProcess::Start({.command = {"/bin/sh", "-c", script}, .log = log});
  EXPECT_TRUE(process.ok()) << process.status();
  return *std::move(process);
}

// Waits until a process is gone: a file of pidfd_open(2) is ready then, which
// the kernel may take its time for.
void ExpectEnd(int process_file) {
  pollfd end = {.fd = process_file, .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&end, 1, static_cast<int>(absl::ToInt64Milliseconds(kLong))),
            1);
  close(process_file);
}

int OpenProcess(pid_t process) {
  const int file = static_cast<int>(syscall(SYS_pidfd_open, process, 0));
  EXPECT_GE(file, 0) << std::strerror(errno);
  return file;
}

TEST(ChildProcessTest, LinesGoThereAndBack) {
  const auto process = Shell("while read line; do echo \"<$line>\"; done");
  ASSERT_TRUE(process->Write("one\ntwo\n", Later()).ok());
  EXPECT_EQ(*process->ReadLine(Later()), "<one>");
  EXPECT_EQ(*process->ReadLine(Later()), "<two>");
  EXPECT_EQ(process->End(kLong), "exit status 0");
}

TEST(ChildProcessTest, ArgumentsAreNotReadByAShell) {
  auto process = ChildProcess::Start({.command = {"echo", "a  $HOME;*"}});
  ASSERT_TRUE(process.ok()) << process.status();
  EXPECT_EQ(*(*process)->ReadLine(Later()), "a  $HOME;*");
}

TEST(ChildProcessTest, LineEndsOfOtherSystemsAreLineEnds) {
  const auto process = Shell("printf 'one\\r\\n\\ntwo\\n'");
  EXPECT_EQ(*process->ReadLine(Later()), "one");
  EXPECT_EQ(*process->ReadLine(Later()), "");
  EXPECT_EQ(*process->ReadLine(Later()), "two");
}

TEST(ChildProcessTest, WaitsNoLongerThanItIsTold) {
  const auto process = Shell("read line; echo late; read line");
  EXPECT_EQ(process->ReadLine(Soon()).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  ASSERT_TRUE(process->Write("go\n", Later()).ok());
  EXPECT_EQ(*process->ReadLine(Later()), "late");
}

TEST(ChildProcessTest, AProgramThatDoesNotReadHoldsNobodyUp) {
  const auto process = Shell("exec sleep 1000");
  // More than a pipe holds.
  const std::string text(size_t{1} << 20, 'x');
  EXPECT_EQ(process->Write(text, Soon()).code(),
            absl::StatusCode::kDeadlineExceeded);
}

TEST(ChildProcessTest, WritingToWhomDoesNotReadIsAnErrorAndNoSignal) {
  const auto process = Shell("exec <&-; echo deaf; exec sleep 1000");
  EXPECT_EQ(*process->ReadLine(Later()), "deaf");
  EXPECT_EQ(process->Write("anybody?\n", Later()).code(),
            absl::StatusCode::kUnavailable);
}

TEST(ChildProcessTest, AnEndIsAnError) {
  const auto process = Shell("exit 3");
  EXPECT_EQ(process->ReadLine(Later()).status().code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(process->End(kLong), "exit status 3");
  EXPECT_EQ(process->Write("still?\n", Later()).code(),
            absl::StatusCode::kUnavailable);
  EXPECT_FALSE(process->ReadLine(Later()).ok());
}

TEST(ChildProcessTest, SaysWhichSignalEndedIt) {
  const auto process = Shell("kill -SEGV $$");
  EXPECT_FALSE(process->ReadLine(Later()).ok());
  EXPECT_EQ(process->End(kLong), "signal 11 (Segmentation fault)");
}

TEST(ChildProcessTest, WhatDoesNotEndIsEndedWithAllThatItStarted) {
  const auto process =
      Shell("trap '' TERM; sleep 1000 & echo $!; while true; do wait; done");
  const pid_t grandchild = std::atoi(process->ReadLine(Later())->c_str());
  ASSERT_GT(grandchild, 0);
  const int file = OpenProcess(grandchild);
  EXPECT_EQ(process->End(kShort), "was killed");
  ExpectEnd(file);
}

// The kernel ends a process with the thread that made it, where it is told to
// end it with us at all.
TEST(ChildProcessTest, LivesOnAfterTheThreadThatStartedIt) {
  std::unique_ptr<ChildProcess> process;
  std::thread([&] {
    process = Shell("while read x; do echo $x; done");
  }).join();
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(process->Write("still there\n", Later()).ok());
    ASSERT_EQ(process->ReadLine(Later()).value_or(""), "still there");
    std::thread([] {}).join();
  }
  EXPECT_EQ(process->End(kLong), "exit status 0");
}

TEST(ChildProcessTest, EndsWithUsEvenWhereWeAreKilled) {
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const pid_t us = fork();
  if (us == 0) {
    // A program that takes no notice of the end of its input.
    const auto process = Shell("echo $$; exec sleep 1000");
    const std::string number = *process->ReadLine(Later()) + "\n";
    if (write(pipe_ends[1], number.data(), number.size()) < 0) _exit(1);
    while (true) pause();
  }
  char number[16] = {};
  ASSERT_GT(read(pipe_ends[0], number, sizeof(number) - 1), 0);
  const int process = OpenProcess(std::atoi(number));
  kill(us, SIGKILL);
  EXPECT_EQ(waitpid(us, nullptr, 0), us);
  ExpectEnd(process);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

TEST(ChildProcessTest, StopBreaksOffWhatWaits) {
  const auto process = Shell("exec sleep 1000");
  int asked = 0;
  const StopCheck stop = [&] { return ++asked > 2; };
  EXPECT_EQ(process->ReadLine(Later(), &stop).status().code(),
            absl::StatusCode::kCancelled);
  asked = 0;
  const std::string text(size_t{1} << 20, 'x');  // more than a pipe holds
  EXPECT_EQ(process->Write(text, Later(), &stop).code(),
            absl::StatusCode::kCancelled);
}

TEST(ChildProcessTest, LeavesNoZombies) {
  Shell("exit 0");
  Shell("exec sleep 1000");
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(ChildProcessTest, ALineWithoutEndIsRefused) {
  const auto process = Shell("exec tr '\\0' x < /dev/zero");
  EXPECT_EQ(process->ReadLine(Later()).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(ChildProcessTest, StandardErrorGoesToTheLog) {
  const std::string log = testing::TempDir() + "child_process.log";
  std::remove(log.c_str());
  Shell("echo first >&2", log)->End(kLong);
  Shell("echo second >&2", log)->End(kLong);
  std::ifstream file(log);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text, "first\nsecond\n");
}

TEST(ChildProcessTest, OneProcessDoesNotHoldThePipesOfAnother) {
  const auto first = Shell("cat");
  const auto second = Shell("exec sleep 1000");
  // `cat` sees the end of its input only if nobody else has it open.
  EXPECT_EQ(first->End(kLong), "exit status 0");
}

TEST(ChildProcessTest, HasNoFilesButItsThreeStreams) {
  // Opened without O_CLOEXEC, as libraries may do.
  const int low = open("/dev/null", O_RDONLY);
  const int high = fcntl(low, F_DUPFD, 100);
  ASSERT_GE(high, 100);
  const auto process = Shell(
      "for file in 0 1 2 " + std::to_string(low) + " " + std::to_string(high) +
      "; do [ -e /proc/self/fd/$file ] && echo $file; done; echo end");
  for (const char* const line : {"0", "1", "2", "end"}) {
    EXPECT_EQ(*process->ReadLine(Later()), line);
  }
  close(low);
  close(high);
}

TEST(ChildProcessTest, WhatCannotBeStartedIsNamed) {
  const absl::Status missing =
      ChildProcess::Start({.command = {"/no/such/program"}}).status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(missing.message()),
              AllOf(HasSubstr("'/no/such/program'"),
                    HasSubstr("No such file or directory")));
  EXPECT_EQ(ChildProcess::Start({}).status().code(),
            absl::StatusCode::kInvalidArgument);
  const absl::Status log =
      ChildProcess::Start({.command = {"true"}, .log = "/no/such/folder/log"})
          .status();
  EXPECT_THAT(std::string(log.message()), HasSubstr("/no/such/folder/log"));
}

}  // namespace
}  // namespace tara
