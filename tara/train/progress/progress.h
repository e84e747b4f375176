#ifndef TARA_TRAIN_PROGRESS_PROGRESS_H_
#define TARA_TRAIN_PROGRESS_PROGRESS_H_

#include <cstdint>
#include <cstdio>
#include <deque>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "tara/base/clocks.h"
#include "tara/nn/heads.h"
#include "tara/train/play/self_play.h"
#include "tara/train/strength.h"

namespace tara::train {

// An event of a run, or the fields of one. docs/reference/metrics.md has the
// names and their meanings.
using Event = nlohmann::ordered_json;

// The state of a run of training at one moment.
struct ProgressSnapshot {
  std::string run_dir;
  int generation = 0;   // being learned, or whose games are played for it
  int generations = 0;  // of the run
  // The phases; self-play may run concurrently with the others.
  bool playing = false;
  bool learning = false;
  bool evaluating = false;

  int64_t games = 0;  // finished, of the generations that are played
  int64_t games_wanted = 0;
  Event rates;  // the fields of "self_play"

  int64_t steps = 0;  // of the generation
  int64_t steps_wanted = 0;
  std::optional<nn::Losses> losses;
  // After the last generation, the mean of the variants.
  std::optional<nn::Losses> held_out;
  Event learned;  // "learning_speed" of the last generation; null: none
  double learning_rate = 0;
  int64_t window_games = 0;
  int64_t window_positions = 0;

  StrengthProgress evaluated;  // of the current evaluation

  std::string gate;   // state of the gate, in words; empty: no gate
  std::string fleet;  // that plays the games, in words; empty: no fleet

  int strength_generation = -1;  // of the checkpoint; -1: none yet
  std::vector<StrengthResult> strength;
  absl::Duration time_left = absl::InfiniteDuration();  // infinite: unknown
  // Finished generations of the run, with the part of the current one by time.
  double generations_done = 0;
};

// Returns the lines of the status block, none wider than `width` columns.
std::vector<std::string> ProgressBlock(const ProgressSnapshot& snapshot,
                                       int width);

// Returns the same in one line, for logs.
std::string ProgressLine(const ProgressSnapshot& snapshot);

// Returns the same as an event: a JSON object in one line (docs/reference/
// metrics.md, "progress").
std::string ProgressJson(const ProgressSnapshot& snapshot);

// Returns "random 98 % [95, 100]  greedy 71 % [63, 79]"; the variants are named
// when there are several.
std::string StrengthText(const std::vector<StrengthResult>& strength);

enum class ProgressForm {
  kBlock,  // for a terminal: a status block, redrawn in place
  kLines,  // for logs: plain lines
  kJson,   // for programs: ProgressJson and the events of the run, a line each
};

struct ProgressOptions {
  std::FILE* out = stderr;
  ProgressForm form = ProgressForm::kLines;
  // Between two drawings or lines; there is a line at the start of each phase
  // too.
  absl::Duration interval = absl::Seconds(10);
  // Of tests.
  absl::Time (*clock)() = &SteadyTime;
};

// The evaluations of a run, in games: of all opponents and variants together.
struct EvaluationPlan {
  int every = 0;  // generations between two; 0: only the last
  int64_t games = 0;
  int64_t final_games = 0;
};

// Returns options for people that suit what `out` is.
ProgressOptions ProgressOptionsFor(std::FILE* out);

// Shows the progress of training, from a thread of its own.
// Thread-safe.
class Progress {
 public:
  explicit Progress(const ProgressOptions& options);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // The counters of self-play; read while it runs.
  SelfPlayStats& self_play_stats() { return stats_; }

  // Training goes from generation `first` to `generations` - 1.
  void BeginRun(absl::string_view run_dir, int first, int generations,
                const EvaluationPlan& evaluations = {});
  // Training ends by this time at the latest.
  void SetDeadline(absl::Time deadline);
  // Training has ended: nothing but the last evaluation is left.
  void EndTraining();
  // Begins self-play of a generation with `kept` games from before. May run
  // concurrently with the learning of another generation, and with the
  // self-play of the one before: then the games of both are shown.
  void BeginSelfPlay(int64_t wanted, int64_t kept);
  // Ends that of the generation that began first. Returns the fields of
  // "self_play": what was played since then, or since the end of one before, by
  // all.
  Event EndSelfPlay();
  void BeginLearning(int generation, int64_t steps, int64_t window_games,
                     int64_t window_positions);
  void Learned(int64_t steps, double learning_rate, const nn::Losses& losses);
  // `held_out`: the losses on games that are never learned from.
  void EndLearning(const Event& learning_speed = {},
                   const std::optional<nn::Losses>& held_out = {});
  // An evaluation begins, or a trial of the checkpoint at the gate, which is a
  // part of its generation.
  void BeginEvaluation(int generation, bool is_gate = false);
  void Evaluated(const StrengthProgress& evaluated);
  void EndEvaluation(int generation, std::vector<StrengthResult> strength);
  // Of games that are played elsewhere: on what, in words.
  void SetFleet(absl::string_view text);
  // Ends what BeginEvaluation began, where that was a trial at the gate.
  // `text`: the state of the gate, in words.
  void EndGate(std::string text);

  // Prints a line that stays, for people.
  void Print(absl::string_view line);
  // Prints a line of metrics.jsonl, for programs.
  void PrintEvent(absl::string_view line);

 private:
  void Run();
  void Draw() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Erase() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Counts and times self-play from now on.
  void BeginRates() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Sets the rates and the time left from the counters and the clock.
  void Measure() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns the remaining time of the run with the last evaluation; infinite
  // if unknown.
  absl::Duration TimeLeft(absl::Time now) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Show() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Write(absl::string_view line) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsBlock() const { return options_.form == ProgressForm::kBlock; }

  const ProgressOptions options_;
  SelfPlayStats stats_;
  absl::Mutex mutex_;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  int drawn_lines_ ABSL_GUARDED_BY(mutex_) = 0;
  ProgressSnapshot snapshot_ ABSL_GUARDED_BY(mutex_);
  EvaluationPlan evaluations_ ABSL_GUARDED_BY(mutex_);
  double most_done_ ABSL_GUARDED_BY(mutex_) = 0;  // generations, so far
  // The current generation: its begin, and the time of evaluations since then.
  // The duration of the previous one without evaluations; zero: none.
  int begun_generation_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Time generation_begin_ ABSL_GUARDED_BY(mutex_);
  absl::Duration generation_evaluated_ ABSL_GUARDED_BY(mutex_);
  absl::Duration last_generation_ ABSL_GUARDED_BY(mutex_);
  absl::Time deadline_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteFuture();
  bool training_ended_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Time evaluation_begin_ ABSL_GUARDED_BY(mutex_);
  bool is_gate_ ABSL_GUARDED_BY(mutex_) = false;
  // Of all evaluations that have ended.
  absl::Duration evaluation_time_ ABSL_GUARDED_BY(mutex_);
  int64_t evaluation_games_ ABSL_GUARDED_BY(mutex_) = 0;
  // Games of each generation that is played.
  std::deque<int64_t> wanted_ ABSL_GUARDED_BY(mutex_);
  // The counters when the running self-play began, or when that of an earlier
  // generation ended meanwhile.
  absl::Time self_play_begin_ ABSL_GUARDED_BY(mutex_);
  absl::Time process_time_before_ ABSL_GUARDED_BY(mutex_);
  int64_t games_kept_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<int64_t> counted_before_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace tara::train

#endif  // TARA_TRAIN_PROGRESS_PROGRESS_H_
