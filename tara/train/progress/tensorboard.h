#ifndef TARA_TRAIN_PROGRESS_TENSORBOARD_H_
#define TARA_TRAIN_PROGRESS_TENSORBOARD_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"

namespace tara::train {

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

  const std::string& path() const { return path_; }

 private:
  EventWriter(std::string path, int fd);

  const std::string path_;
  const int fd_;
  absl::Mutex mutex_;
  std::string pending_ ABSL_GUARDED_BY(mutex_);  // records not yet written
};

}  // namespace tara::train

#endif  // TARA_TRAIN_PROGRESS_TENSORBOARD_H_
