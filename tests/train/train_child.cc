// Trains by configs/tiny.textproto, with the gate and the evaluation of
// `bin/tara train`, in a process that tests may kill:
//
//   train_child RUN_DIR [hold=EVENT] [synced=FOLDER] FIELD=VALUE...
//
// Prints what happens, a line an event:
//
//   game I          the store has game I
//   step N          the Nth step of the run has been learned
//   saving NAME     the file NAME is whole under its temporary name
//   gate N          ckpt-N is being played at the gate
//   evaluation N    ckpt-N is being evaluated
//
// With hold=EVENT, the thread that this happens in goes no further: who reads
// the line finds the process alive, and in that phase, for as long as it likes.
//
// With synced=FOLDER, that folder has of RUN_DIR what a power failure must
// leave and nothing else: the files as they were when they were last synced,
// under the names that the folder had when it was last synced.

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/mutex.h"
#include "tara/cli/train.h"
#include "tara/train/progress/progress.h"
#include "tara/train/run/pipeline.h"
#include "tests/train/tiny_training.h"

namespace tara::train {
namespace {

namespace fs = std::filesystem;

// Set before training begins; rename, fsync and fdatasync can reach nothing but
// a global.
std::string event_to_hold;

void Report(const std::string& event) {
  const std::string line = event + "\n";
  // One write a line: a kill never tears it. It may fail where nobody reads
  // (and files have no room): an event that is awaited goes through a pipe.
  const ssize_t written = write(STDOUT_FILENO, line.data(), line.size());
  static_cast<void>(written);
  while (event == event_to_hold) pause();
}

// What has been synced of one folder and those in it. Thread-safe.
class SyncedFiles {
 public:
  // From now on, keeps in `copy` what is synced of `folder`.
  void Keep(const std::string& folder, const std::string& copy) {
    const absl::MutexLock lock(&mutex_);
    fs::create_directories(folder);
    folder_ = fs::canonical(folder);
    copy_ = fs::absolute(copy);
  }

  void Renamed(const char* from, const char* to) {
    const absl::MutexLock lock(&mutex_);
    renamed_.emplace_back(fs::absolute(from), fs::absolute(to));
  }

  void Synced(int fd) {
    const absl::MutexLock lock(&mutex_);
    if (folder_.empty()) return;
    const fs::path path = fs::read_symlink(absl::StrCat("/proc/self/fd/", fd));
    if (!absl::StartsWith(path.string(), folder_.string())) return;
    if (fs::is_directory(path)) {
      SyncNames(path);
    } else {
      SyncContents(path);
    }
  }

 private:
  fs::path CopyOf(const fs::path& path) const
      ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return copy_ / path.lexically_relative(folder_);
  }

  void SyncContents(const fs::path& path) ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    fs::create_directories(CopyOf(path).parent_path());
    // A kill must not tear the copy.
    const std::string whole = copy_.string() + ".next";
    fs::copy_file(path, whole, fs::copy_options::overwrite_existing);
    Move(whole, CopyOf(path));
  }

  void SyncNames(const fs::path& folder) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    for (const auto& [from, to] : std::exchange(renamed_, {})) {
      if (to.parent_path() == folder) {
        Move(CopyOf(from), CopyOf(to));
      } else {
        renamed_.emplace_back(from, to);
      }
    }
    if (!fs::exists(CopyOf(folder))) return;
    for (const fs::directory_entry& entry :
         fs::directory_iterator(CopyOf(folder))) {
      if (!fs::exists(folder / entry.path().filename())) {
        fs::remove_all(entry.path());
      }
    }
  }

  // Not by rename, which is counted here.
  static void Move(const fs::path& from, const fs::path& to) {
    renameat(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str());
  }

  absl::Mutex mutex_;
  fs::path folder_ ABSL_GUARDED_BY(mutex_);
  fs::path copy_ ABSL_GUARDED_BY(mutex_);
  // Since their folder was synced.
  std::vector<std::pair<fs::path, fs::path>> renamed_ ABSL_GUARDED_BY(mutex_);
};

SyncedFiles& Files() {
  static SyncedFiles& files = *new SyncedFiles;
  return files;
}

int Train(const std::string& run_dir, const std::vector<std::string>& options) {
  std::vector<std::string> overrides;
  for (absl::string_view option : options) {
    if (absl::ConsumePrefix(&option, "hold=")) {
      event_to_hold = std::string(option);
    } else if (absl::ConsumePrefix(&option, "synced=")) {
      Files().Keep(run_dir, std::string(option));
    } else {
      overrides.emplace_back(option);
    }
  }
  const auto config = TinyConfig(run_dir, overrides);
  if (!config.ok()) {
    std::fprintf(stderr, "%s\n", config.status().ToString().c_str());
    return 2;
  }
  const StopCheck stop = [] { return false; };
  const TrainCallbacks callbacks = {
      .evaluate =
          [&](StrengthRequest request) {
            request.on_progress = [&](const StrengthProgress&) {
              Report(absl::StrCat("evaluation ", request.generation));
            };
            return cli::EvaluateCheckpoint(*config, request, nullptr, stop);
          },
      .gate =
          [&](StrengthRequest request) {
            request.on_progress = [&](const StrengthProgress&) {
              Report(absl::StrCat("gate ", request.generation));
            };
            return cli::PlayGate(*config, request, nullptr, stop);
          },
      .on_game_stored =
          [](uint64_t index) { Report(absl::StrCat("game ", index)); },
      .on_step_learned =
          [](int64_t steps) { Report(absl::StrCat("step ", steps)); }};
  Progress progress(ProgressOptionsFor(stderr));
  const auto summary = RunTraining(*config, callbacks, stop, progress);
  if (!summary.ok()) {
    std::fprintf(stderr, "%s\n", summary.status().ToString().c_str());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace tara::train

// These stand before the C library's, for SQLite's calls too.

extern "C" int rename(const char* from, const char* to) noexcept {
  tara::train::Report(
      absl::StrCat("saving ", std::filesystem::path(to).filename().string()));
  const int result = renameat(AT_FDCWD, from, AT_FDCWD, to);
  if (result == 0) tara::train::Files().Renamed(from, to);
  return result;
}

extern "C" int fsync(int fd) {
  tara::train::Files().Synced(fd);
  return static_cast<int>(syscall(SYS_fsync, fd));
}

extern "C" int fdatasync(int fd) {
  tara::train::Files().Synced(fd);
  return static_cast<int>(syscall(SYS_fdatasync, fd));
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  return tara::train::Train(argv[1],
                            std::vector<std::string>(argv + 2, argv + argc));
}
