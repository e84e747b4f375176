#ifndef TARA_TRAIN_RUN_RUN_LOG_H_
#define TARA_TRAIN_RUN_RUN_LOG_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "tara/nn/heads.h"
#include "tara/train/learn/learner.h"
#include "tara/train/progress/progress.h"
#include "tara/train/strength.h"

namespace tara::train {

// Returns a line of metrics.jsonl: the event of this kind ("self_play",
// "learning", ...) and generation, with its further fields.
std::string EventLine(absl::string_view kind, int generation,
                      const Event& fields);

// Returns the fields of losses.
Event LossFields(const nn::Losses& losses);

// These return lines of metrics.jsonl: one for each variant, each opponent and
// variant, each variant at the gate, by which `candidate` plays from now on, or
// still `best`.
std::vector<std::string> HeldOutLines(
    int generation, const std::vector<HeldOutLosses>& by_variant);
std::vector<std::string> StrengthLines(
    int generation, bool is_final, const std::vector<StrengthResult>& strength);
std::vector<std::string> GateLines(int candidate, int best, bool promoted,
                                   const std::vector<StrengthResult>& results);

// Returns the generation that a line of metrics.jsonl is of, or -1.
int GenerationOfLine(const std::string& line);

// Returns the complete lines of a file of metrics, without a torn last one.
// NOT_FOUND if the file is missing.
absl::StatusOr<std::vector<std::string>> ReadMetricsLines(
    const std::string& path);

// Keeps the events of a run for programs to read: the lines of metrics.jsonl,
// which are given to the run's progress too. The file is only appended to, so
// that programs may follow it. Thread-safe.
class RunLog {
 public:
  // Opens or creates the file: a JSON object a line, in the order of writing.
  // Cuts off a last line that a kill has torn. `progress` must outlive the log.
  // Errors name the file and the system's reason.
  static absl::StatusOr<std::unique_ptr<RunLog>> Open(const std::string& path,
                                                      Progress& progress);
  ~RunLog();
  RunLog(const RunLog&) = delete;
  RunLog& operator=(const RunLog&) = delete;

  // Appends lines, in one write and in the same order everywhere. On an error
  // (such as a full disk) nothing is appended.
  absl::Status Append(const std::vector<std::string>& lines)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Appends the lines that the file lacks.
  absl::Status AppendMissing(std::vector<std::string> lines);

 private:
  RunLog(std::string path, int fd, Progress& progress)
      : path_(std::move(path)), fd_(fd), progress_(progress) {}

  const std::string path_;
  const int fd_;
  Progress& progress_;
  absl::Mutex mutex_;  // one writer at a time
};

}  // namespace tara::train

#endif  // TARA_TRAIN_RUN_RUN_LOG_H_
