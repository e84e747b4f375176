#ifndef TARA_BASE_FILES_H_
#define TARA_BASE_FILES_H_

#include <fcntl.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tara {

// The suffix of the temporary file of an AtomicFile.
inline constexpr absl::string_view kTemporaryEnding = ".tmp";

// Replaces the file `path`, or the target of a link, atomically: writes
// `path`.tmp, syncs it, renames it, syncs the folder, as far as the file system
// can sync. The new file has the permissions of the old one. Errors name the
// file or folder and the system's reason. After an error, or without Commit,
// the old file is unchanged, unless it was the sync of the folder that failed:
// then the file is the new one, which a power failure may take back.
// REQUIRES: no other thread or process writes to the same path at that time.
class AtomicFile {
 public:
  static absl::StatusOr<AtomicFile> Create(const std::string& path);

  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  absl::Status Append(absl::string_view contents);
  // REQUIRES: nothing is appended afterwards.
  absl::Status Commit();

 private:
  AtomicFile(std::string path, std::string temporary, int fd);

  std::string path_;
  std::string temporary_;
  int fd_;  // -1: committed or moved from
};

// Replaces a file at once, as AtomicFile does.
absl::Status WriteFileAtomically(const std::string& path,
                                 absl::string_view contents);

// Returns the target of a link, which need not exist; else the path itself.
std::string BehindLinks(const std::string& path);

// Returns the error of the last system call, which was to do this to the file:
// "cannot write x: No space left on device".
absl::Status SystemError(absl::string_view doing, const std::string& path);

// Returns the contents of a file. NOT_FOUND if it is missing;
// RESOURCE_EXHAUSTED for a pipe or device that has more than 1 GiB; else the
// system's error. The message names the file.
absl::StatusOr<std::string> ReadWholeFile(const std::string& path);

// Returns INVALID_ARGUMENT for a path with a zero byte, where systems end it.
absl::Status CheckPath(absl::string_view path);

// Network file systems let signals interrupt calls that others do not.

// As open, for a descriptor that no other program inherits; or -1 and errno.
int OpenFile(const std::string& path, int flags, mode_t mode = 0644);

// Writes all of it. Returns the system's error, "cannot write PATH: ...".
absl::Status WriteAll(int fd, const std::string& path,
                      absl::string_view contents);

// A lock on a file, which the kernel gives up with the last copy of this or
// when the process ends, however it ends.
struct FileLock {
  std::shared_ptr<void> held;
  // A warning that the file system has no locks; else empty.
  std::string warning = {};
};

// Locks a file, opened with these flags, for this process only. UNAVAILABLE
// if another one has it, else the system's error.
absl::StatusOr<FileLock> LockFile(const std::string& path, int flags);

// Kinds of files that took hours to make or that other programs need.
inline constexpr absl::string_view kDatabaseFile = "a store of games or a book";
inline constexpr absl::string_view kBundleFile = "a bundle";
inline constexpr absl::string_view kGamesFile = "a file of games";

// Returns the kind of this program's file at a path for messages, such as
// kBundleFile or "a checkpoint"; empty for any other or missing file. Decides
// by the beginning of the file, the suffix of configs, or the folder of a run.
absl::string_view KindOfFile(const std::string& path);

// Returns the folder with models/ and web/: the value of the environment
// variable TARA_ROOT, which bin/tara sets, or the folder of the running program
// or of the library with this code if it contains models/. Not the current one,
// for example, which anybody may own.
std::optional<std::filesystem::path> ProjectFolder();

}  // namespace tara

#endif  // TARA_BASE_FILES_H_
