#ifndef TARA_TRAIN_FOLDER_CHECKPOINTS_H_
#define TARA_TRAIN_FOLDER_CHECKPOINTS_H_

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/config.pb.h"
#include "tara/nn/training/trainer.h"
#include "tara/nn/weights/checkpoint.h"
#include "tara/train/folder/run_folder.h"

namespace tara::train {

// A trainer and where it stands.
struct ResumedTrainer {
  std::unique_ptr<nn::Trainer> trainer;
  nn::TrainingProgress progress;
  // Of a run that begins here with `init_from`: CRC-32C of that file, eight
  // hexadecimal digits.
  std::string begun_with_crc32c = {};
  // For people, a sentence each: damaged checkpoints that were set aside.
  std::vector<std::string> notes;
};

// Returns the newest complete checkpoint of the run. Damaged ones are renamed
// to NAME.damaged, and their generations are learned again. Without any
// checkpoint, begins the run with a new network, or that of `init_from`, saved
// as checkpoint 0. Returns FAILED_PRECONDITION for a checkpoint of another
// version, the errors of CheckInitFrom, and the system's.
absl::StatusOr<ResumedTrainer> OpenNewestCheckpoint(
    const proto::TrainConfig& config, const RunFolder& folder);

// Checks, if the config's run is to begin, that it can begin with `init_from`;
// writes nothing. Returns NOT_FOUND or DATA_LOSS for a checkpoint that is not
// there, damaged or without a tensor, and INVALID_ARGUMENT if its network is
// larger than the config's (a smaller one grows: GrowNetwork) or, where it lies
// in the folder of a run, if that run has not learned all of the config's
// variants and their rule options. Messages begin with "init_from: ".
absl::Status CheckInitFrom(const proto::TrainConfig& config);

// Returns the checkpoints among `there` (their numbers, ascending) to remove.
// It keeps the first (0, and 1, an opponent of the final player), the `needed`
// ones, and the ones that the config keeps: with 300 generations, 10 newest and
// each 10th, some 42. Pure and idempotent.
std::vector<int> CheckpointsToRemove(const std::vector<int>& there,
                                     const proto::RetentionConfig& config,
                                     const std::set<int>& needed);

}  // namespace tara::train

#endif  // TARA_TRAIN_FOLDER_CHECKPOINTS_H_
