#include <sched.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tara/base/threads.h"
#include "tests/base/temporary_folder.h"

namespace tara {
namespace {

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

}  // namespace
}  // namespace tara
