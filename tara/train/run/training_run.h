#ifndef TARA_TRAIN_RUN_TRAINING_RUN_H_
#define TARA_TRAIN_RUN_TRAINING_RUN_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "proto/config.pb.h"
#include "proto/run_state.pb.h"
#include "tara/nn/training/trainer.h"
#include "tara/train/folder/run_folder.h"
#include "tara/train/folder/run_state.h"
#include "tara/train/learn/sampler.h"
#include "tara/train/play/game_plan.h"
#include "tara/train/progress/progress.h"
#include "tara/train/run/pipeline.h"
#include "tara/train/run/run_clock.h"
#include "tara/train/run/run_log.h"
#include "tara/train/stop.h"
#include "tara/train/store/game_store.h"
#include "tara/train/strength.h"

namespace tara::train {

// A run in its folder: what it has open and where it stands.
class TrainingRun {
 public:
  TrainingRun(const proto::TrainConfig& config, const TrainCallbacks& callbacks,
              const StopCheck& stop, Progress& progress)
      : config_(config),
        callbacks_(callbacks),
        stop_(stop),
        progress_(progress),
        begin_(callbacks.clock()) {}

  // Opens the folder and loads what it has, or begins the run.
  absl::Status Open();
  // Runs the generations that are left and the last evaluation.
  absl::StatusOr<TrainSummary> Run();

 private:
  int generations() const { return static_cast<int>(config_.generations()); }
  proto::RunState& state() { return state_->state(); }
  bool gated() const { return callbacks_.gate && config_.gate().games() > 0; }
  // The checkpoint that plays for the run.
  int player() const;
  // Of this start and all before.
  RunTime TimeUsed() const;
  // Whether the next generation, of which so much is done, would not fit into
  // the config's minutes.
  bool TimeIsUp(const RunTime& begun = {}) const;
  // As stop_ is asked, and keeps the time. For the thread that runs the run,
  // and those that it waits for.
  bool StopOrKeepTime();
  // Saves the time used, every kTimeKept. A kill loses no more than that.
  void KeepTime() ABSL_LOCKS_EXCLUDED(time_mutex_);
  // Keeps the time at the end of training: the last evaluation is not counted.
  void EndTime() ABSL_LOCKS_EXCLUDED(time_mutex_);
  // Saves the state, with the time used and the lines that the log is to have.
  absl::Status SaveState(const std::vector<std::string>& metrics_lines)
      ABSL_LOCKS_EXCLUDED(time_mutex_);
  // Writes the time used so far into the state.
  void SetTime() ABSL_EXCLUSIVE_LOCKS_REQUIRED(time_mutex_);
  // Lets people see when these will be up, at the pace so far.
  void ForetellTheEnd();

  // Chooses by measurement what the config leaves open, and records it.
  absl::Status Choose();
  // Appends the lines that a kill has kept from the log.
  absl::Status CompleteLog();
  // Loads the newest checkpoint that is whole, and tells of others.
  absl::Status OpenTrainer();
  // Tells people, and programs, something.
  absl::Status Note(absl::string_view text);

  // Returns the plan of a generation: the one that is recorded, or a new one,
  // of games by the checkpoint `model`, which is then recorded.
  absl::StatusOr<GamePlan> Plan(int generation, int model);
  // Plays the missing games of a plan.
  absl::Status Play(const GamePlan& plan, const StopCheck& stop);
  // Plays again what the store has lost of the earlier generations that `next`
  // is learned with. DATA_LOSS where that is no longer possible.
  absl::Status PlayLostGames(const GamePlan& next);

  // Learns from the games up to those of `generation` and saves the next
  // checkpoint. CANCELLED when stopped, ABORTED where it cannot be learned.
  absl::Status LearnFrom(int generation);
  absl::Status LearnOnce(int generation);
  // Loads the newest checkpoint whose losses on the window are finite, and sets
  // newer ones aside. ABORTED where there is none.
  absl::Status ReturnToGoodCheckpoint();
  // Runs one generation, from its self-play to its evaluation.
  absl::Status RunGeneration(int generation);
  // Learns and evaluates a generation, while the next one's games are played
  // where that is wanted.
  absl::Status LearnAndPlayAhead(int generation);

  // Lets the newest checkpoint play for the run, or not, if that is still open;
  // publishes the one that does.
  absl::Status PassGate();
  bool EvaluationIsDue(int checkpoint) const;
  absl::StatusOr<std::vector<StrengthResult>> Evaluate(int checkpoint,
                                                       bool is_final);
  // Makes up for an evaluation that an end of the process came before.
  absl::Status CatchUpOnEvaluation();
  // Removes what is not to be kept any longer.
  absl::Status ThinOut();

  proto::TrainConfig config_;  // with what was chosen for this run
  const TrainCallbacks& callbacks_;
  const StopCheck& stop_;
  Progress& progress_;
  const RunTime begin_;
  RunTime before_;  // that earlier starts took
  absl::Mutex time_mutex_;
  RunTime kept_ ABSL_GUARDED_BY(time_mutex_);  // as the state has it
  bool is_training_ ABSL_GUARDED_BY(time_mutex_) = true;
  RunTime last_generation_;  // that the last one took
  std::unique_ptr<RunFolder> folder_;
  std::optional<RunStateFile> state_;
  std::unique_ptr<GameStore> store_;
  std::unique_ptr<RunLog> log_;
  std::unique_ptr<nn::Trainer> trainer_;
  std::optional<Sampler> sampler_;
  nn::TrainingProgress standing_;  // as of the newest checkpoint
};

}  // namespace tara::train

#endif  // TARA_TRAIN_RUN_TRAINING_RUN_H_
