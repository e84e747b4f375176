#include <fcntl.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "proto/tensorboard_event.pb.h"
#include "tara/base/atomic_file.h"
#include "tara/base/status_macros.h"
#include "tara/train/progress/progress.h"
#include "third_party/crc32c/crc32c.h"

namespace tara::train {
namespace {

// Returns the part of a file's contents up to the last end of a line.
absl::string_view WholeLines(absl::string_view contents) {
  const size_t end = contents.rfind('\n');
  return end == absl::string_view::npos ? "" : contents.substr(0, end + 1);
}

// Appends an integer in little-endian order.
template <typename T>
void AppendInteger(T value, std::string& out) {
  for (size_t i = 0; i < sizeof(T); ++i) {
    out.push_back(static_cast<char>(value >> (8 * i)));
  }
}

// A CRC over data that holds CRCs itself is weak, so that the format stores
//   rotate_right(crc, 15) + 0xa282ead8  (mod 2^32).
void AppendMaskedCrc(absl::string_view data, std::string& out) {
  const uint32_t crc = crc32c::Crc32c(data.data(), data.size());
  AppendInteger<uint32_t>(std::rotr(crc, 15) + 0xa282ead8u, out);
}

// Appends a message as a TFRecord.
void AppendRecord(const proto::TensorBoardEvent& event, std::string& out) {
  const std::string data = event.SerializeAsString();
  std::string length;
  AppendInteger<uint64_t>(data.size(), length);
  out += length;
  AppendMaskedCrc(length, out);
  out += data;
  AppendMaskedCrc(data, out);
}

proto::TensorBoardEvent EventNow() {
  proto::TensorBoardEvent event;
  event.set_wall_time(absl::ToDoubleSeconds(absl::Now() - absl::UnixEpoch()));
  return event;
}

// Returns a name that TensorBoard takes for an event file and that no other
// writer uses. TensorBoard reads the files of a folder in the order of names.
std::string FileName(int attempt) {
  return absl::StrCat("events.out.tfevents.", absl::ToUnixSeconds(absl::Now()),
                      ".tara.", getpid(), ".", attempt);
}

}  // namespace

AppendedFile::AppendedFile(std::string path, int fd)
    : path_(std::move(path)), fd_(fd) {}

AppendedFile::~AppendedFile() { close(fd_); }

absl::Status AppendedFile::Append(absl::string_view text) {
  const absl::MutexLock lock(&mutex_);
  const off_t end = lseek(fd_, 0, SEEK_END);
  const absl::Status status = WriteAll(fd_, path_, text);
  if (!status.ok() && ftruncate(fd_, end) != 0) {
    return SystemError("cannot undo a torn write to", path_);
  }
  return status;
}

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

absl::Status MetricsFile::AppendLines(absl::Span<const std::string> lines) {
  std::string text;
  for (const std::string& line : lines) absl::StrAppend(&text, line, "\n");
  return file_.Append(text);
}

absl::StatusOr<std::vector<std::string>> ReadMetricsLines(
    const std::string& path) {
  TARA_ASSIGN_OR_RETURN(const std::string contents, ReadWholeFile(path));
  return std::vector<std::string>(
      absl::StrSplit(WholeLines(contents), '\n', absl::SkipEmpty()));
}

absl::StatusOr<std::unique_ptr<EventWriter>> EventWriter::Create(
    const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return absl::ErrnoToStatus(
        error.value(), absl::StrCat("cannot create the folder ", folder));
  }
  for (int attempt = 0;; ++attempt) {
    const std::string path =
        (std::filesystem::path(folder) / FileName(attempt)).string();
    const int fd = OpenFile(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND);
    if (fd < 0 && errno == EEXIST) continue;
    if (fd < 0) {
      return SystemError("cannot create", path);
    }
    return std::unique_ptr<EventWriter>(new EventWriter(path, fd));
  }
}

EventWriter::EventWriter(const std::string& path, int fd) : file_(path, fd) {
  proto::TensorBoardEvent event = EventNow();
  event.set_file_version("brain.Event:2");
  AppendRecord(event, pending_);
}

EventWriter::~EventWriter() { Flush().IgnoreError(); }

void EventWriter::Scalar(absl::string_view tag, double value, int64_t step) {
  proto::TensorBoardEvent event = EventNow();
  event.set_step(step);
  proto::TensorBoardSummary::Value& point =
      *event.mutable_summary()->add_value();
  point.set_tag(std::string(tag));
  point.set_simple_value(static_cast<float>(value));
  const absl::MutexLock lock(&mutex_);
  AppendRecord(event, pending_);
}

absl::Status EventWriter::Flush() {
  const absl::MutexLock lock(&mutex_);
  TARA_RETURN_IF_ERROR(file_.Append(pending_));
  pending_.clear();
  return absl::OkStatus();
}

}  // namespace tara::train
