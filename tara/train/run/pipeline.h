#ifndef TARA_TRAIN_RUN_PIPELINE_H_
#define TARA_TRAIN_RUN_PIPELINE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "proto/config.pb.h"
#include "proto/fleet.pb.h"
#include "proto/game.pb.h"
#include "tara/base/threads.h"
#include "tara/fleet/fleet.h"
#include "tara/record/game_store.h"
#include "tara/train/play/self_play.h"
#include "tara/train/progress/progress.h"
#include "tara/train/strength.h"

namespace tara::train {

// Time that a run has taken.
struct RunTime {
  absl::Duration wall;
  absl::Duration cpu;  // processor time of all threads

  RunTime operator+(const RunTime& b) const {
    return {.wall = wall + b.wall, .cpu = cpu + b.cpu};
  }
  RunTime operator-(const RunTime& b) const {
    return {.wall = wall - b.wall, .cpu = cpu - b.cpu};
  }
};

// Returns the time of the process, from an arbitrary origin: only differences
// have a meaning.
RunTime ProcessTime();

// Returns `used` as a share of the time that a config allows: 1 when it is up.
// Of several limits the nearest one counts; 0 without any.
double ShareOfTime(const proto::TrainConfig& config, const RunTime& used);

// Returns the expected number of generations of a run: the config's number, or
// fewer if its time ends earlier. After `generations_done` generations took
// `used`, the next ones are assumed to last as long on average.
int ExpectedGenerations(const proto::TrainConfig& config, int generations_done,
                        const RunTime& used);

// Games of a generation to be played.
struct SelfPlayJob {
  const proto::PlayRequest& request;
  absl::Span<const uint64_t> missing;  // indices, ascending
  std::string checkpoint_path;
  SelfPlayStats& stats;  // to be added to
  // Number of games from each node of a fleet.
  std::map<std::string, int64_t>& games_by_node;
  // As in SelfPlayOptions; players elsewhere need not call it.
  std::function<void()> on_all_started = {};
};

// Takes games that are over, and stores them all or none.
using GamesSink =
    std::function<absl::Status(absl::Span<const proto::GameRecord>)>;

// Plays games elsewhere. Gives each of the missing ones to the sink, once, as
// it has it; returns when it has all, or `stop` is true. The games must equal
// those of PlayGames. Returns the first error of the sink or its own.
using GamePlayer = std::function<absl::Status(
    const SelfPlayJob& job, const GamesSink& sink, const StopCheck& stop)>;

// Has a run's games played by a fleet: a GamePlayer. `progress` shows what the
// fleet does. Errors as Fleet::Play.
absl::Status PlayOnFleet(fleet::Fleet& fleet, const SelfPlayJob& job,
                         const GamesSink& sink, const StopCheck& stop,
                         Progress& progress);

struct TrainCallbacks {
  // Empty: nothing is evaluated.
  StrengthEvaluator evaluate;
  // Empty: every checkpoint plays, with any gate of the config.
  StrengthEvaluator gate;
  // Empty: this process plays the games.
  GamePlayer play = {};
  // Called with each game once the store has it; from several threads. May be
  // empty.
  std::function<void(uint64_t game_index)> on_game_stored;
  // Called after each step of learning, with the number of the run's steps so
  // far. May be empty.
  std::function<void(int64_t steps)> on_step_learned = {};
  // The clock of the run. Thread-safe.
  std::function<RunTime()> clock = ProcessTime;
};

// The end of a run of training.
struct TrainSummary {
  std::string run_dir;
  int generation = 0;  // of the newest checkpoint
  // The player: the newest checkpoint, or with a gate the best.
  std::string checkpoint_path;
  // Checkpoints that the gate let through and rejected, over the whole run.
  int promoted = 0;
  int rejected = 0;
  // Ended by `minutes` or `cpu_minutes` of the config, before all generations
  // were learned.
  bool time_is_up = false;
  // Ended early by the stop check; the same command resumes here.
  bool stopped = false;
  // Of the last checkpoint; empty when stopped or without an evaluator.
  std::vector<StrengthResult> strength;
};

// Checks the requirements of starting or resuming a run with this config: its
// folder, devices, number types, `init_from`. Writes nothing. REQUIRES:
// `config` is resolved. Returns the errors of CheckRunFolder, CheckDevices and
// CheckInitFrom, which name the field.
absl::Status CheckRun(const proto::TrainConfig& config);

// Trains as the config says, in its folder (tara/train/folder/run_folder.h),
// and resumes with its content:
//
//   ckpt-000000: a new network, or `init_from`
//   for each generation g, from 0:
//     plan: which variants the games of g are of, and who plays; recorded
//     self-play: the games of g that the store lacks, by ckpt-g
//     learning from the newest games, up to those of g: ckpt-(g+1), `latest`
//     with a gate: ckpt-(g+1) against the best, which plays from then on
//     each Nth generation: evaluation
//     what `retention` does not keep is removed
//   evaluation of the player
//
// With `overlap`, the games of g + 1 are played by ckpt-g while g is learned.
// The games of g + 2 begin as soon as ckpt-(g+1) is there and all games of g +
// 1 have begun: they take the places of the ones that are over.
//
// The process may be killed at any instant: a finished game is in the store
// before anything else happens, a checkpoint is whole or not there, and what
// an unfinished generation had learned is learned again from the same batches.
// The power may fail at any instant: games are synced before the checkpoint
// that is learned from them. Games of the window that the store lacks
// nevertheless are played again by the checkpoint that played them. A damaged
// checkpoint is set aside and replaced by the one before it.
//
// A run that had finished is evaluated again, unless `generations` has grown.
// REQUIRES: `config` is resolved (tara/train/config/config.h).
// Returns the errors of CheckRun, before anything is written; of
// RunFolder::Open, OpenGameStore, OpenNewestCheckpoint, of learning, of
// self-play and of the callbacks; DATA_LOSS when store and checkpoints do not
// fit together, or games of the window are missing and cannot be played again;
// ABORTED when a generation cannot be learned as its losses are not finite.
// After any error the same call resumes with everything finished, once its
// cause is gone.
absl::StatusOr<TrainSummary> RunTraining(const proto::TrainConfig& config,
                                         const TrainCallbacks& callbacks,
                                         const StopCheck& stop,
                                         Progress& progress);

}  // namespace tara::train

#endif  // TARA_TRAIN_RUN_PIPELINE_H_
