#ifndef TARA_TRAIN_RUN_RUN_LOG_H_
#define TARA_TRAIN_RUN_RUN_LOG_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
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

// The results of a generation's learning.
struct LearningReport {
  int generation = 0;  // of the checkpoint that was learned
  int64_t step = 0;    // learned so far, over the whole run
  int64_t samples = 0;
  nn::Losses losses;         // means over the generation
  double learning_rate = 0;  // of the last step
  int64_t window_games = 0;
  int64_t window_positions = 0;
  int skipped_steps = 0;  // of the generation: losses were not finite
};

// Keeps what happens in a run for programs to read: a line of metrics.jsonl an
// event ("event": "self_play", "learning_speed", "learning", "held_out",
// "strength", "gate" or "note"), given to the run's progress too, and
// TensorBoard curves over generations. Thread-safe.
class RunLog {
 public:
  // `progress` must outlive the log.
  static absl::StatusOr<std::unique_ptr<RunLog>> Open(const RunFolder& folder,
                                                      Progress& progress);

  // The games of a generation, as far as this process has played them, or nodes
  // of a fleet (none: empty).
  absl::Status SelfPlay(int generation, const SelfPlayRates& rates,
                        const std::map<std::string, int64_t>& games_by_node);
  // How fast the generation of a checkpoint was learned.
  absl::Status LearningSpeed(int generation, const LearningRates& rates);
  // These return lines of metrics.jsonl, which the caller appends once his own
  // record of the event is safe: a line a generation; a variant; an opponent
  // and variant; a variant.
  static std::vector<std::string> Learning(const LearningReport& report);
  static std::vector<std::string> HeldOut(
      int generation, const std::vector<HeldOutLosses>& by_variant);
  static std::vector<std::string> Strength(
      int generation, bool is_final,
      const std::vector<StrengthResult>& strength);
  static std::vector<std::string> Gate(const GateReport& report);
  // Appends the lines that the file lacks, and draws their curves.
  absl::Status Append(const std::vector<std::string>& lines);
  // A message to people.
  absl::Status Note(int generation, absl::string_view text);

 private:
  RunLog(std::string path, std::unique_ptr<MetricsFile> metrics,
         std::unique_ptr<EventWriter> events, Progress& progress);

  // Appends the lines, and gives them to the progress in the same order.
  absl::Status Write(const std::vector<std::string>& lines)
      ABSL_LOCKS_EXCLUDED(mutex_);

  const std::string path_;  // of the metrics
  const std::unique_ptr<MetricsFile> metrics_;
  const std::unique_ptr<EventWriter> events_;
  Progress& progress_;
  absl::Mutex mutex_;  // of the order of lines
};

// Returns the generation that a line of metrics.jsonl is of, or -1.
int GenerationOfLine(const std::string& line);

}  // namespace tara::train

#endif  // TARA_TRAIN_RUN_RUN_LOG_H_
