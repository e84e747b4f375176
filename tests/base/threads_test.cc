#include "tara/base/threads.h"

#include <sys/resource.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"

namespace tara {
namespace {

TEST(RunOnThreadsTest, CallsWithEachNumberOnce) {
  for (const int count : {1, 2, 7}) {
    std::vector<std::atomic<int>> calls(count);
    RunOnThreads(count, [&](int i) { ++calls[i]; });
    for (const std::atomic<int>& each : calls) EXPECT_EQ(each, 1);
  }
}

TEST(RunOnThreadsTest, AnExceptionOfAnyThreadReachesTheCaller) {
  for (const int thrower : {0, 1, 3}) {
    std::atomic<int> returned = 0;
    EXPECT_THROW(RunOnThreads(4,
                              [&](int i) {
                                if (i == thrower) throw std::bad_alloc();
                                ++returned;
                              }),
                 std::bad_alloc);
    EXPECT_EQ(returned, 3);
  }
}

// Leaves no room for the stack of a thread, most of which is never used.
void ForbidThreads() {
  long pages = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%ld", &pages) != 1) std::exit(2);
  std::fclose(file);
  const rlim_t bytes = static_cast<rlim_t>(pages) * 4096 + (rlim_t{4} << 20);
  const rlimit limit = {.rlim_cur = bytes, .rlim_max = bytes};
  if (setrlimit(RLIMIT_AS, &limit) != 0) std::exit(3);
}

TEST(RunOnThreadsTest, WithoutThreadsTheCallerMakesAllCalls) {
  // In a process that has no stacks of earlier threads to use again.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        ForbidThreads();
        std::vector<int> calls;
        RunOnThreads(5, [&](int i) { calls.push_back(i); });
        std::exit(calls == std::vector<int>{0, 1, 2, 3, 4} ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(CatchExhaustionTest, WantOfMemoryAndOfThreadsAreStatuses) {
  const auto message = [](const absl::Status& status) {
    EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
    return std::string(status.message());
  };
  EXPECT_EQ(message(CatchExhaustion(
                []() -> absl::Status { throw std::bad_alloc(); })),
            "out of memory");
  EXPECT_EQ(message(CatchExhaustion([]() -> absl::StatusOr<int> {
                      throw std::system_error(EAGAIN, std::generic_category());
                    }).status()),
            "no more threads can be made: the system's limit is reached");
  EXPECT_EQ(CatchExhaustion([]() -> absl::StatusOr<int> { return 7; }).value(),
            7);
  EXPECT_THROW(CatchExhaustion([]() -> absl::Status {
                 throw std::runtime_error("a bug");
               }).IgnoreError(),
               std::runtime_error);
}

}  // namespace
}  // namespace tara
