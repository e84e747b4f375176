#include "tara/base/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"

namespace tara {

absl::Status SystemError(absl::string_view doing, const std::string& path) {
  // A file that may grow no more is no other than a disk that is full.
  if (errno == EFBIG) errno = ENOSPC;
  return absl::ErrnoToStatus(errno, absl::StrCat(doing, " ", path));
}

namespace {

absl::Status WriteAll(int fd, const std::string& path,
                      absl::string_view contents) {
  while (!contents.empty()) {
    const ssize_t written = write(fd, contents.data(), contents.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return SystemError("cannot write", path);
    }
    contents.remove_prefix(written);
  }
  return absl::OkStatus();
}

// Writes a file and waits until the disk has it.
absl::Status WriteAndSync(const std::string& path, absl::string_view contents) {
  const int fd =
      open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return SystemError("cannot create", path);
  absl::Status status = WriteAll(fd, path, contents);
  if (status.ok() && fsync(fd) != 0) status = SystemError("cannot sync", path);
  if (close(fd) != 0 && status.ok()) status = SystemError("cannot close", path);
  return status;
}

// Makes the names in a folder durable.
absl::Status SyncFolder(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return SystemError("cannot open the folder", path);
  const absl::Cleanup close_folder = [fd] { close(fd); };
  if (fsync(fd) != 0) return SystemError("cannot sync the folder", path);
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteFileAtomically(const std::string& given,
                                 absl::string_view contents) {
  constexpr int kMaxLinks = 40;
  std::error_code error;
  std::filesystem::path target = given;
  for (int i = 0; i < kMaxLinks; ++i) {
    if (!std::filesystem::is_symlink(target, error)) break;
    target =
        target.parent_path() / std::filesystem::read_symlink(target, error);
  }
  const std::string path = target.string();
  const std::string temporary = absl::StrCat(path, kTemporaryEnding);
  absl::Status status = WriteAndSync(temporary, contents);
  if (status.ok() && std::rename(temporary.c_str(), path.c_str()) != 0) {
    status = SystemError("cannot replace", path);
  }
  if (!status.ok()) {
    unlink(temporary.c_str());
    return status;
  }
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return SyncFolder(folder.empty() ? "." : folder);
}

absl::StatusOr<std::string> ReadWholeFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return SystemError("cannot read", path);
  const absl::Cleanup close_file = [fd] { close(fd); };
  std::string contents;
  struct stat found = {};
  if (fstat(fd, &found) == 0 && found.st_size > 0) {
    contents.reserve(static_cast<size_t>(found.st_size));
  }
  char buffer[1 << 16];
  while (true) {
    const ssize_t size = read(fd, buffer, sizeof(buffer));
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return SystemError("cannot read", path);
    if (size == 0) return contents;
    contents.append(buffer, static_cast<size_t>(size));
  }
}

}  // namespace tara
