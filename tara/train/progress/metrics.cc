#include "tara/train/progress/metrics.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "tara/base/atomic_file.h"
#include "tara/base/status_macros.h"

namespace tara::train {
namespace {

// Returns the part of a file's contents up to the last end of a line.
absl::string_view WholeLines(absl::string_view contents) {
  const size_t end = contents.rfind('\n');
  return end == absl::string_view::npos ? "" : contents.substr(0, end + 1);
}

}  // namespace

absl::StatusOr<std::unique_ptr<MetricsFile>> MetricsFile::Open(
    const std::string& path) {
  const int fd = OpenFile(path, O_WRONLY | O_CREAT | O_APPEND);
  if (fd < 0) return SystemError("cannot open", path);
  // Owns the descriptor from here on.
  std::unique_ptr<MetricsFile> file(new MetricsFile(path, fd));
  TARA_ASSIGN_OR_RETURN(const std::string contents, ReadWholeFile(path));
  const size_t whole = WholeLines(contents).size();
  if (whole != contents.size() &&
      ftruncate(fd, static_cast<off_t>(whole)) != 0) {
    return SystemError("cannot cut off the torn last line of", path);
  }
  return file;
}

MetricsFile::MetricsFile(std::string path, int fd)
    : path_(std::move(path)), fd_(fd) {}

MetricsFile::~MetricsFile() { close(fd_); }

absl::Status MetricsFile::AppendLines(absl::Span<const std::string> lines) {
  std::string text;
  for (const std::string& line : lines) absl::StrAppend(&text, line, "\n");
  const absl::MutexLock lock(&mutex_);
  const off_t end = lseek(fd_, 0, SEEK_END);
  const absl::Status status = WriteAll(fd_, path_, text);
  if (!status.ok() && ftruncate(fd_, end) != 0) {
    return SystemError("cannot undo a torn write to", path_);
  }
  return status;
}

absl::StatusOr<std::vector<std::string>> ReadMetricsLines(
    const std::string& path) {
  TARA_ASSIGN_OR_RETURN(const std::string contents, ReadWholeFile(path));
  return std::vector<std::string>(
      absl::StrSplit(WholeLines(contents), '\n', absl::SkipEmpty()));
}

}  // namespace tara::train
