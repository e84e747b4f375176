#ifndef TARA_TRAIN_PROGRESS_METRICS_H_
#define TARA_TRAIN_PROGRESS_METRICS_H_

// The files of a run for programs: metrics and TensorBoard curves. They are
// only appended to, so that programs may follow them.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"

namespace tara::train {

// An open file that is appended to. Thread-safe.
class AppendedFile {
 public:
  // Takes over the descriptor of the file.
  AppendedFile(std::string path, int fd);
  ~AppendedFile();
  AppendedFile(const AppendedFile&) = delete;
  AppendedFile& operator=(const AppendedFile&) = delete;

  // Appends text in one write. On an error (such as a full disk) nothing is
  // appended.
  absl::Status Append(absl::string_view text);

  const std::string& path() const { return path_; }

 private:
  const std::string path_;
  absl::Mutex mutex_;
  const int fd_;
};

// A file of metrics: a JSON object a line, in the order of writing. A kill
// tears at most the last line, which the next Open removes. Thread-safe.
class MetricsFile {
 public:
  // Opens or creates the file, and cuts off a torn last line. Errors name the
  // file and the system's reason.
  static absl::StatusOr<std::unique_ptr<MetricsFile>> Open(
      const std::string& path);

  // Appends all of the lines, or none; each is a JSON object without a newline.
  absl::Status AppendLines(absl::Span<const std::string> lines);

 private:
  MetricsFile(const std::string& path, int fd) : file_(path, fd) {}

  AppendedFile file_;
};

// Returns the complete lines of a metrics file, without a torn last one.
// NOT_FOUND if the file is missing.
absl::StatusOr<std::vector<std::string>> ReadMetricsLines(
    const std::string& path);

// Writes scalar curves as a TensorBoard event file. Every writer makes a file
// of its own; TensorBoard shows the files of one folder as one run, so that a
// resumed training continues the same curves.
//
// The file is a sequence of TFRecords (integers little-endian):
//
//   bytes  8        4                    length  4
//          length   masked CRC of these  data    masked CRC of data
//
// each `data` a TensorBoardEvent. Thread-safe.
class EventWriter {
 public:
  // Creates a file in `folder`, which is created where needed. Errors name the
  // path and the system's reason.
  static absl::StatusOr<std::unique_ptr<EventWriter>> Create(
      const std::string& folder);

  // Writes what is left; a failure of this last write goes unreported.
  ~EventWriter();
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;

  // Adds a point to the curve `tag`, such as "loss/policy". It is in the file
  // after the next Flush.
  void Scalar(absl::string_view tag, double value, int64_t step)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Appends the points since the last Flush to the file, in one write. After
  // an error they stay for the next Flush.
  absl::Status Flush() ABSL_LOCKS_EXCLUDED(mutex_);

  const std::string& path() const { return file_.path(); }

 private:
  EventWriter(const std::string& path, int fd);

  AppendedFile file_;
  absl::Mutex mutex_;
  std::string pending_ ABSL_GUARDED_BY(mutex_);  // records not yet written
};

}  // namespace tara::train

#endif  // TARA_TRAIN_PROGRESS_METRICS_H_
