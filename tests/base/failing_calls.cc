// Makes system calls fail as they do on some file systems of networks and
// containers. Stands before the C library's, linked or by LD_PRELOAD. The
// environment says which, by the number of the error:
//
//   FAIL_FSYNC_FOLDER=N  fsync of a folder
//   FAIL_FLOCK=N         flock
//   FAIL_LOCKS=N         the locks of fcntl
//   FAIL_OFTEN=N         each second write to a file, fsync and flock
//   FAIL_ACCESS=N        access for writing

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdlib>

namespace {

// Sets errno to what the environment says; false if it says nothing.
bool Fails(const char* name) {
  const char* const number = std::getenv(name);
  if (number == nullptr) return false;
  errno = std::atoi(number);
  return true;
}

bool FailsOften() {
  static thread_local unsigned calls = 0;
  return ++calls % 2 == 1 && Fails("FAIL_OFTEN");
}

bool IsFolder(int fd) {
  struct stat of = {};
  return fstat(fd, &of) == 0 && S_ISDIR(of.st_mode);
}

int Fcntl(int fd, int command, void* argument) {
  const bool locks =
      command == F_SETLK || command == F_SETLKW || command == F_GETLK;
  if (locks && Fails("FAIL_LOCKS")) return -1;
  return static_cast<int>(syscall(SYS_fcntl, fd, command, argument));
}

}  // namespace

extern "C" {

int fsync(int fd) {
  if (IsFolder(fd) && Fails("FAIL_FSYNC_FOLDER")) return -1;
  if (FailsOften()) return -1;
  return static_cast<int>(syscall(SYS_fsync, fd));
}

int flock(int fd, int operation) noexcept {
  if (Fails("FAIL_FLOCK") || FailsOften()) return -1;
  return static_cast<int>(syscall(SYS_flock, fd, operation));
}

ssize_t write(int fd, const void* bytes, size_t size) {
  if (fd > STDERR_FILENO && FailsOften()) return -1;
  return syscall(SYS_write, fd, bytes, size);
}

int access(const char* path, int mode) noexcept {
  if ((mode & W_OK) != 0 && Fails("FAIL_ACCESS")) return -1;
  return static_cast<int>(syscall(SYS_faccessat, AT_FDCWD, path, mode));
}

int fcntl(int fd, int command, ...) {
  va_list rest;
  va_start(rest, command);
  void* const argument = va_arg(rest, void*);
  va_end(rest);
  return Fcntl(fd, command, argument);
}

int fcntl64(int fd, int command, ...) {
  va_list rest;
  va_start(rest, command);
  void* const argument = va_arg(rest, void*);
  va_end(rest);
  return Fcntl(fd, command, argument);
}

}  // extern "C"
