#ifndef TARA_TRAIN_PROGRESS_METRICS_H_
#define TARA_TRAIN_PROGRESS_METRICS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"

namespace tara::train {

// A file of metrics: a JSON object a line, in the order of writing. Lines are
// only appended, so that programs may follow the file and a kill tears at most
// the last line, which the next Open removes.
// Thread-safe.
class MetricsFile {
 public:
  // Opens or creates the file, and cuts off a torn last line. Errors name the
  // file and the system's reason.
  static absl::StatusOr<std::unique_ptr<MetricsFile>> Open(
      const std::string& path);

  ~MetricsFile();
  MetricsFile(const MetricsFile&) = delete;
  MetricsFile& operator=(const MetricsFile&) = delete;

  // Appends lines, each a JSON object without a line's end. On an error (such
  // as a full disk) nothing is appended.
  absl::Status AppendLines(absl::Span<const std::string> lines)
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  MetricsFile(std::string path, int fd);

  const std::string path_;
  absl::Mutex mutex_;
  const int fd_;
};

// Returns the complete lines of a metrics file, without a torn last one.
// NOT_FOUND if the file is missing.
absl::StatusOr<std::vector<std::string>> ReadMetricsLines(
    const std::string& path);

}  // namespace tara::train

#endif  // TARA_TRAIN_PROGRESS_METRICS_H_
