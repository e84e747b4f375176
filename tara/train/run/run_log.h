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
#include "tara/train/folder/run_folder.h"
#include "tara/train/learn/learner.h"
#include "tara/train/progress/progress.h"
#include "tara/train/run/pipeline.h"
#include "tara/train/strength.h"

namespace tara::train {

// Returns a line of metrics.jsonl: the event of this kind ("self_play",
// "learning", ...) and generation, with its further fields.
std::string EventLine(absl::string_view kind, int generation,
                      const Event& fields);

// Returns the fields of losses.
Event LossFields(const nn::Losses& losses);

// These return lines of metrics.jsonl: one for each variant, or each opponent
// and variant.
std::vector<std::string> HeldOutLines(
    int generation, const std::vector<HeldOutLosses>& by_variant);
std::vector<std::string> StrengthLines(
    int generation, bool is_final, const std::vector<StrengthResult>& strength);

// Returns the generation that a line of metrics.jsonl is of, or -1.
int GenerationOfLine(const std::string& line);

// Keeps the events of a run for programs to read: the lines of metrics.jsonl,
// which are given to the run's progress too. Thread-safe.
class RunLog {
 public:
  // `progress` must outlive the log.
  static absl::StatusOr<std::unique_ptr<RunLog>> Open(const RunFolder& folder,
                                                      Progress& progress);

  // Appends lines, in the same order everywhere.
  absl::Status Append(const std::vector<std::string>& lines)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Appends the lines that metrics.jsonl lacks.
  absl::Status AppendMissing(std::vector<std::string> lines);

 private:
  RunLog(std::string path, std::unique_ptr<AppendedFile> metrics,
         Progress& progress)
      : path_(std::move(path)),
        metrics_(std::move(metrics)),
        progress_(progress) {}

  const std::string path_;  // of the metrics
  absl::Mutex mutex_;
  const std::unique_ptr<AppendedFile> metrics_ ABSL_PT_GUARDED_BY(mutex_);
  Progress& progress_;
};

}  // namespace tara::train

#endif  // TARA_TRAIN_RUN_RUN_LOG_H_
