#ifndef TARA_TRAIN_PIPELINE_H_
#define TARA_TRAIN_PIPELINE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/config.pb.h"
#include "tara/train/progress.h"
#include "tara/train/stop.h"
#include "tara/train/strength.h"

namespace tara {

struct TrainCallbacks {
  // Empty: nothing is evaluated.
  StrengthEvaluator evaluate;
  // Told of each game once the store has it; from several threads. May be
  // empty.
  std::function<void(uint64_t game_index)> on_game_stored;
};

// How a run of training ended.
struct TrainSummary {
  std::string run_dir;
  int generation = 0;  // of the newest checkpoint
  std::string checkpoint_path;
  // Ended early by the stop check: the same command goes on from here.
  bool stopped = false;
  // Of the last checkpoint; empty when stopped or without an evaluator.
  std::vector<StrengthResult> strength;
};

// Trains as the config says, in its folder (tara/train/run_folder.h), and goes
// on with what is there already:
//
//   ckpt-000000: a new network
//   for each generation g, from 0:
//     self-play: the games of g that the store lacks, by ckpt-g
//     learning from the newest games, up to those of g: ckpt-(g+1), `latest`
//     each Nth generation: evaluation
//   evaluation of the last checkpoint
//
// With `overlap`, the games of g + 1 are played by ckpt-g while g is learned.
//
// The process may be killed at any instant: a finished game is in the store
// before anything else happens, a checkpoint is whole or not there, and what
// an unfinished generation had learned is learned again from the same batches.
//
// A run that had finished is evaluated again, unless `generations` has grown.
// REQUIRES: `config` is resolved (tara/train/config.h).
// Returns the errors of RunFolder::Open, OpenGameStore, LoadTrainer, of
// learning, of self-play and of the evaluator; DATA_LOSS when store and
// checkpoints do not fit together.
absl::StatusOr<TrainSummary> RunTraining(const proto::TrainConfig& config,
                                         const TrainCallbacks& callbacks,
                                         const StopCheck& stop,
                                         Progress& progress);

}  // namespace tara

#endif  // TARA_TRAIN_PIPELINE_H_
