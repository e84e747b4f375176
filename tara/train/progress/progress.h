#ifndef TARA_TRAIN_PROGRESS_PROGRESS_H_
#define TARA_TRAIN_PROGRESS_PROGRESS_H_

#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "tara/train/play/self_play_options.h"
#include "tara/train/progress/progress_text.h"
#include "tara/train/strength.h"

namespace tara::train {

struct ProgressOptions {
  std::FILE* out = stderr;
  // A terminal: a status block is redrawn in place. Otherwise plain lines.
  bool redraw = false;
  // Between two drawings, or two plain lines; there is a line at the start of
  // each phase too.
  absl::Duration interval = absl::Seconds(10);
};

// Returns options that suit what `out` is.
ProgressOptions ProgressOptionsFor(std::FILE* out);

// Shows how training goes while it goes, from a thread of its own.
// Thread-safe.
class Progress {
 public:
  explicit Progress(const ProgressOptions& options);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // What self-play counts into; read while it runs.
  SelfPlayStats& self_play_stats() { return stats_; }

  // Training goes from generation `first` to `generations` - 1.
  void BeginRun(absl::string_view run_dir, int first, int generations);
  // Training ends by this time, whatever generations are left.
  void SetDeadline(absl::Time deadline);
  // Training has ended: nothing but the last evaluation is left.
  void EndTraining();
  // Self-play of a generation, of which `kept` games are there from before.
  // May run beside another generation's learning.
  void BeginSelfPlay(int generation, int64_t wanted, int64_t kept);
  // Returns what was played since BeginSelfPlay.
  SelfPlayRates EndSelfPlay();
  void BeginLearning(int generation, int64_t steps, int64_t window_games,
                     int64_t window_positions);
  void Learned(int64_t steps, double learning_rate, const LossSummary& losses);
  // The newest checkpoint's losses on games that are never learned from.
  void HeldOut(const LossSummary& losses);
  void EndLearning();
  void BeginEvaluation(int generation);
  void Evaluated(const StrengthProgress& evaluated);
  void EndEvaluation(int generation, std::vector<StrengthResult> strength);
  // Ends what BeginEvaluation began, where that was a trial at the gate.
  // `text` says how the gate stands.
  void EndGate(std::string text);

  // Prints a line that stays.
  void Print(absl::string_view line);

 private:
  void Run();
  void Draw() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Erase() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Sets the rates and the time left from the counters and the clock.
  void Measure() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Show() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const ProgressOptions options_;
  SelfPlayStats stats_;
  absl::Mutex mutex_;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  int drawn_lines_ ABSL_GUARDED_BY(mutex_) = 0;
  ProgressSnapshot snapshot_ ABSL_GUARDED_BY(mutex_);
  int first_generation_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Time run_begin_ ABSL_GUARDED_BY(mutex_);
  absl::Time deadline_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteFuture();
  bool training_ended_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Time evaluation_begin_ ABSL_GUARDED_BY(mutex_);
  // The counters when the running self-play began.
  absl::Time self_play_begin_ ABSL_GUARDED_BY(mutex_);
  int64_t games_kept_ ABSL_GUARDED_BY(mutex_) = 0;
  SelfPlayCounts counted_before_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace tara::train

#endif  // TARA_TRAIN_PROGRESS_PROGRESS_H_
