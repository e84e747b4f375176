#include "tara/base/files.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "tara/base/status_macros.h"

namespace tara {

namespace fs = std::filesystem;

absl::Status SystemError(absl::string_view doing, const std::string& path) {
  // A file at its size limit is treated like a full disk.
  if (errno == EFBIG) errno = ENOSPC;
  return absl::ErrnoToStatus(errno, absl::StrCat(doing, " ", path));
}

absl::Status CheckPath(absl::string_view path) {
  if (!absl::StrContains(path, '\0')) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("path '", path.substr(0, path.find('\0')),
                   "\\0...': has a zero byte; expected none"));
}

namespace {

// Repeats a system call until no signal interrupts it.
template <typename Call>
auto Repeated(const Call& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

// Whether the last call failed because the file system does not support it.
bool IsUnsupported() {
  return errno == EINVAL || errno == ENOSYS || errno == ENOTSUP ||
         errno == EOPNOTSUPP;
}

// Waits until a file or folder is on the disk. Some file systems of networks
// and containers do not support this, especially for folders.
bool Sync(int fd) {
  return Repeated([&] { return fsync(fd); }) == 0 || IsUnsupported();
}

// Makes the names in a folder durable.
absl::Status SyncFolder(const std::string& path) {
  const int fd = OpenFile(path, O_RDONLY | O_DIRECTORY);
  // Files may be made in a folder that may not be listed.
  if (fd < 0 && errno == EACCES) return absl::OkStatus();
  if (fd < 0) return SystemError("cannot open the folder", path);
  const absl::Cleanup close_folder = [fd] { close(fd); };
  return Sync(fd) ? absl::OkStatus()
                  : SystemError("cannot sync the folder", path);
}

constexpr std::pair<absl::string_view, absl::string_view> kBeginnings[] = {
    {"SQLite format 3", kDatabaseFile}, {"TaraNet\n", "a checkpoint"},
    {"PK\x03\x04", kBundleFile},        {"{\"event\":", "the metrics of a run"},
    {"{\"variant\":", kGamesFile},      {"{\"tara_", "a test set"},
};

absl::string_view KindOfBeginning(const std::string& path) {
  // To close a file gives up the locks that the process has on it: one that
  // may be a store to be is not opened.
  std::error_code error;
  if (fs::file_size(path, error) == 0 || error) return "";
  char begin[32];
  std::ifstream file(path, std::ios::binary);
  file.read(begin, sizeof(begin));
  const absl::string_view found(begin, static_cast<size_t>(file.gcount()));
  for (const auto& [beginning, kind] : kBeginnings) {
    if (absl::StartsWith(found, beginning)) return kind;
  }
  return "";
}

// Whether a file is of a kind that a run writes into its folder
// (tara/train/folder/run_folder.h).
bool IsOfRun(const fs::path& file) {
  std::error_code error;
  const fs::path folder = fs::absolute(file, error).parent_path();
  const fs::path below = folder.filename();
  const bool is_below = below == "checkpoints" || below == "tensorboard";
  const fs::path name = file.filename();
  return fs::exists(
             (is_below ? folder.parent_path() : folder) / "config.textproto",
             error) &&
         (is_below || name == "lock" || name == "metrics.jsonl" ||
          name == "fleet_games.jsonl");
}

}  // namespace

int OpenFile(const std::string& path, int flags, mode_t mode) {
  return Repeated([&] { return open(path.c_str(), flags | O_CLOEXEC, mode); });
}

absl::Status WriteAll(int fd, const std::string& path,
                      absl::string_view contents) {
  while (!contents.empty()) {
    const ssize_t written =
        Repeated([&] { return write(fd, contents.data(), contents.size()); });
    if (written < 0) return SystemError("cannot write", path);
    contents.remove_prefix(written);
  }
  return absl::OkStatus();
}

std::string BehindLinks(const std::string& path) {
  constexpr int kMaxLinks = 40;
  std::error_code error;
  fs::path target = path;
  for (int i = 0; i < kMaxLinks; ++i) {
    if (!fs::is_symlink(target, error)) break;
    target = target.parent_path() / fs::read_symlink(target, error);
  }
  return target.string();
}

absl::StatusOr<AtomicFile> AtomicFile::Create(const std::string& path) {
  TARA_RETURN_IF_ERROR(CheckPath(path));
  const std::string target = BehindLinks(path);
  struct stat old = {};
  const bool replaces = stat(target.c_str(), &old) == 0;
  // Links that lead back to themselves would give way to the file.
  if (!replaces && errno == ELOOP) return SystemError("cannot follow", path);
  const mode_t mode = replaces ? old.st_mode & 0777 : 0644;
  std::string temporary = absl::StrCat(target, kTemporaryEnding);
  unlink(temporary.c_str());  // what a killed process has left
  const int fd = OpenFile(temporary, O_WRONLY | O_CREAT | O_EXCL, mode);
  if (fd < 0) return SystemError("cannot create", temporary);
  // What the umask took away. Some file systems have no permissions to lose.
  if (replaces) static_cast<void>(fchmod(fd, mode));
  return AtomicFile(target, std::move(temporary), fd);
}

AtomicFile::AtomicFile(std::string path, std::string temporary, int fd)
    : path_(std::move(path)), temporary_(std::move(temporary)), fd_(fd) {}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      fd_(std::exchange(other.fd_, -1)) {}

AtomicFile::~AtomicFile() {
  if (fd_ < 0) return;
  close(fd_);
  unlink(temporary_.c_str());
}

absl::Status AtomicFile::Append(absl::string_view contents) {
  return WriteAll(fd_, temporary_, contents);
}

absl::Status AtomicFile::Commit() {
  if (!Sync(fd_)) return SystemError("cannot sync", temporary_);
  const bool closed = close(std::exchange(fd_, -1)) == 0 || errno == EINTR;
  absl::Status status =
      closed ? absl::OkStatus() : SystemError("cannot close", temporary_);
  if (status.ok() && Repeated([&] {
                       return std::rename(temporary_.c_str(), path_.c_str());
                     }) != 0) {
    status = SystemError("cannot replace", path_);
  }
  if (!status.ok()) {
    unlink(temporary_.c_str());
    return status;
  }
  const std::string folder = fs::path(path_).parent_path().string();
  return SyncFolder(folder.empty() ? "." : folder);
}

absl::Status WriteFileAtomically(const std::string& path,
                                 absl::string_view contents) {
  TARA_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  TARA_RETURN_IF_ERROR(file.Append(contents));
  return file.Commit();
}

absl::StatusOr<std::string> ReadWholeFile(const std::string& path) {
  // Limit of streams, whose size is unknown in advance.
  constexpr size_t kMaxStreamBytes = size_t{1} << 30;
  TARA_RETURN_IF_ERROR(CheckPath(path));
  const int fd = OpenFile(path, O_RDONLY);
  if (fd < 0) return SystemError("cannot read", path);
  const absl::Cleanup close_file = [fd] { close(fd); };
  std::string contents;
  struct stat found = {};
  if (fstat(fd, &found) == 0 && found.st_size > 0) {
    contents.reserve(static_cast<size_t>(found.st_size));
  }
  char buffer[1 << 16];
  while (true) {
    const ssize_t size =
        Repeated([&] { return read(fd, buffer, sizeof(buffer)); });
    if (size < 0) return SystemError("cannot read", path);
    if (size == 0) return contents;
    contents.append(buffer, static_cast<size_t>(size));
    if (contents.size() > kMaxStreamBytes && !S_ISREG(found.st_mode)) {
      return absl::ResourceExhaustedError(
          absl::StrCat("cannot read ", path, ": more than ", kMaxStreamBytes,
                       " bytes; expected a file"));
    }
  }
}

absl::StatusOr<FileLock> LockFile(const std::string& path, int flags) {
  TARA_RETURN_IF_ERROR(CheckPath(path));
  const int fd = OpenFile(path, flags);
  if (fd < 0) return SystemError("cannot open the lock file", path);
  FileLock lock = {
      .held = std::shared_ptr<void>(nullptr, [fd](void*) { close(fd); })};
  if (Repeated([&] { return flock(fd, LOCK_EX | LOCK_NB); }) == 0) return lock;
  if (errno == EWOULDBLOCK) {
    return absl::UnavailableError(
        absl::StrCat(path, " is locked by another process"));
  }
  // EBADF: NFS uses locks of fcntl, which need a descriptor for writing.
  if (!IsUnsupported() && errno != ENOLCK && errno != EBADF) {
    return SystemError("cannot lock", path);
  }
  lock.warning =
      absl::StrCat(path, " cannot be locked (", std::strerror(errno),
                   "): a second process could write here at the same time");
  return lock;
}

absl::string_view KindOfFile(const std::string& path) {
  const std::string file = BehindLinks(path);
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return "";
  for (const absl::string_view ending : {"-wal", "-shm", "-journal"}) {
    absl::string_view store = file;
    if (absl::ConsumeSuffix(&store, ending) &&
        KindOfBeginning(std::string(store)) == kDatabaseFile) {
      return "the log of a store or a book";
    }
  }
  if (absl::EndsWith(file, ".textproto")) return "a config or a run's state";
  const absl::string_view kind = KindOfBeginning(file);
  return kind.empty() && IsOfRun(file) ? "a file of a run" : kind;
}

std::optional<fs::path> ProjectFolder() {
  const char* const root = std::getenv("TARA_ROOT");
  if (root != nullptr && *root != '\0') return root;
  std::error_code error;  // what cannot be read is not there
  const fs::path folder =
      fs::read_symlink("/proc/self/exe", error).parent_path();
  if (!error && fs::is_directory(folder / "models", error)) {
    return folder;
  }
  Dl_info library;  // that has this function
  if (dladdr(reinterpret_cast<const void*>(&ProjectFolder), &library) != 0) {
    const fs::path beside = fs::path(library.dli_fname).parent_path();
    if (beside.is_absolute() && fs::is_directory(beside / "models", error)) {
      return beside;
    }
  }
  return std::nullopt;
}

}  // namespace tara
