#include "tara/base/threads.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace tara {

namespace {

namespace fs = std::filesystem;

int BoundProcessors() {
  // The kernel refuses sets that are smaller than its own.
  for (int size = 1024; size <= (1 << 20); size *= 2) {
    std::vector<cpu_set_t> set(CPU_ALLOC_SIZE(size) / sizeof(cpu_set_t));
    const size_t bytes = set.size() * sizeof(cpu_set_t);
    if (sched_getaffinity(0, bytes, set.data()) == 0) {
      return CPU_COUNT_S(bytes, set.data());
    }
  }
  return static_cast<int>(std::thread::hardware_concurrency());
}

// Returns the processors that a group's quota is worth; infinity if it has none
// or the folder is not that of a group.
double ReadQuota(const fs::path& group) {
  // Version 2: "max PERIOD" or "QUOTA PERIOD". In version 1, -1 means no quota.
  double quota = 0;
  double period = 0;
  const bool limited = (std::ifstream(group / "cpu.max") >> quota >> period) ||
                       ((std::ifstream(group / "cpu.cfs_quota_us") >> quota) &&
                        (std::ifstream(group / "cpu.cfs_period_us") >> period));
  return limited && quota > 0 && period > 0
             ? quota / period
             : std::numeric_limits<double>::infinity();
}

// Returns the least quota of the groups that this process is in.
double Quota(const fs::path& root) {
  double least = std::numeric_limits<double>::infinity();
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    // ID:CONTROLLERS:PATH. Version 2 names no controllers.
    std::vector<std::string> fields =
        absl::StrSplit(line, absl::MaxSplits(':', 2));
    fields.resize(3);
    const std::string& controllers = fields[1];
    std::vector<fs::path> mounts;
    if (controllers.empty()) {
      mounts = {"", "unified"};
    } else if (absl::StrContains(absl::StrCat(",", controllers, ","),
                                 ",cpu,")) {
      mounts = {"cpu", controllers};
    }
    for (const fs::path& mount : mounts) {
      // A container may see another path than the one that is mounted, at whose
      // root its own group is.
      fs::path group = fs::path(fields[2]).relative_path();
      while (true) {
        least =
            std::min(least, ReadQuota(root / "sys/fs/cgroup" / mount / group));
        if (group.empty()) break;
        group = group.parent_path();
      }
    }
  }
  return least;
}

// A signal handler can reach nothing but a global.
std::atomic<bool> stop_requested = false;
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void RequestStop(int) { stop_requested = true; }

}  // namespace

int UsableProcessors(const std::string& root) {
  return std::max(1, static_cast<int>(std::min<double>(
                         BoundProcessors(), std::ceil(Quota(root)))));
}

StopCheck StopOnSignals() {
  struct sigaction action = {};
  action.sa_handler = RequestStop;
  // Restores the default after the first signal; system calls continue.
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  return StopRequested;
}

bool StopRequested() { return stop_requested.load(std::memory_order_relaxed); }

}  // namespace tara
