#ifndef TARA_TRAIN_PROGRESS_METRICS_H_
#define TARA_TRAIN_PROGRESS_METRICS_H_

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"

namespace tara::train {

// A switch, a number or a text. Implicit, so that metrics are written as
// {{"generation", 3}, {"loss", 0.5}}. A NaN or infinity becomes JSON's null.
class MetricValue {
 public:
  MetricValue(bool value) : value_(value) {}
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  MetricValue(T value) : value_(static_cast<int64_t>(value)) {}
  MetricValue(double value) : value_(value) {}
  MetricValue(const char* value) : value_(std::string(value)) {}
  MetricValue(std::string value) : value_(std::move(value)) {}
  MetricValue(absl::string_view value) : value_(std::string(value)) {}

  const std::variant<bool, int64_t, double, std::string>& value() const {
    return value_;
  }

 private:
  std::variant<bool, int64_t, double, std::string> value_;
};

struct Metric {
  std::string name;
  MetricValue value;
};

// Returns the metrics, in this order, as a line without its end.
std::string MetricsLine(absl::Span<const Metric> metrics);

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

  // Appends lines of MetricsLine. On an error (such as a full disk) nothing is
  // appended.
  absl::Status AppendLines(absl::Span<const std::string> lines)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Appends the line of these metrics.
  absl::Status Append(absl::Span<const Metric> metrics) {
    return AppendLines({MetricsLine(metrics)});
  }

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
