#include "tara/base/threads.h"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tara/base/clocks.h"
#include "tests/base/temporary_folder.h"

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

struct File {
  std::string path;
  std::string contents;
};

// Returns what UsableProcessors returns where these are the kernel's files.
int UsableWith(const std::vector<File>& files) {
  const TemporaryFolder root;
  for (const File& file : files) {
    const std::filesystem::path path = root.At(file.path);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << file.contents;
  }
  return UsableProcessors(root.path());
}

TEST(ProcessorsTest, CountsThoseThatTheProcessIsBoundTo) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  EXPECT_EQ(UsableWith({}), CPU_COUNT(&before));

  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(UsableWith({}), 1);
  EXPECT_EQ(UsableProcessors(), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
}

TEST(ProcessorsTest, CountsNoMoreThanTheQuotaOfAGroupOrOneAboveIt) {
  const std::string groups_1 = "4:memory:/x\n3:cpu,cpuacct:/a/b\n1:name=y:/\n";
  EXPECT_EQ(UsableWith({{"proc/self/cgroup", "0::/a/b\n"},
                        {"sys/fs/cgroup/a/b/cpu.max", "50000 100000\n"}}),
            1);
  EXPECT_EQ(UsableWith({{"proc/self/cgroup", "0::/a/b\n"},
                        {"sys/fs/cgroup/a/b/cpu.max", "max 100000\n"},
                        {"sys/fs/cgroup/a/cpu.max", "100000 100000\n"}}),
            1);
  EXPECT_EQ(UsableWith({{"proc/self/cgroup", "4:memory:/x\n0::/a\n"},
                        {"sys/fs/cgroup/unified/a/cpu.max", "1000 100000\n"}}),
            1);
  EXPECT_EQ(
      UsableWith(
          {{"proc/self/cgroup", groups_1},
           {"sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_quota_us", "70000\n"},
           {"sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_period_us", "100000\n"}}),
      1);
  // A container whose group is mounted at the root.
  EXPECT_EQ(UsableWith({{"proc/self/cgroup", groups_1},
                        {"sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000\n"},
                        {"sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"}}),
            1);
}

TEST(ProcessorsTest, RoundsUpAndIgnoresWhatIsNoQuota) {
  const int bound = UsableWith({});
  EXPECT_EQ(UsableWith({{"proc/self/cgroup", "0::/\n"},
                        {"sys/fs/cgroup/cpu.max", "100001 100000\n"}}),
            std::min(bound, 2));
  EXPECT_EQ(UsableWith({{"proc/self/cgroup", "0::/\n"},
                        {"sys/fs/cgroup/cpu.max", "what 0\n"}}),
            bound);
  EXPECT_EQ(UsableWith({{"proc/self/cgroup", "3:cpu:/\n"},
                        {"sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"},
                        {"sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"}}),
            bound);
  // The group of another controller is none of ours.
  EXPECT_EQ(UsableWith({{"proc/self/cgroup", "4:memory:/x\n3:cpu:/\n"},
                        {"sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "1000\n"},
                        {"sys/fs/cgroup/cpu/x/cpu.cfs_period_us", "100000\n"}}),
            bound);
}

TEST(ClocksTest, TheCoarseTimeOfAThreadFollowsItsTimeAndIsNeverAhead) {
  for (int i = 0; i < 3; ++i) {
    const absl::Time before = ThreadTime();
    while (ThreadTime() < before + absl::Milliseconds(1)) {
      const absl::Time coarse = CoarseThreadTime();
      EXPECT_LE(coarse, ThreadTime());
      EXPECT_LE(coarse, CoarseThreadTime());
    }
    EXPECT_GE(CoarseThreadTime(), before);
  }
}

}  // namespace
}  // namespace tara
