#ifndef TARA_TRAIN_RUN_FOLDER_H_
#define TARA_TRAIN_RUN_FOLDER_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/config.pb.h"

namespace tara {

// The folder of a training run:
//
//   config.textproto        the resolved config, as last started
//   games.db                the game store
//   checkpoints/
//     ckpt-000000.pt        the network before any learning
//     ckpt-000001.pt        after the first generation, and so on
//     latest                name of the newest checkpoint, for other programs
//   metrics.jsonl           a JSON object a line
//   tensorboard/            event files
//   lock                    held while a process trains here
//
// Whoever holds a RunFolder holds its lock. Thread-safe but for creation.
class RunFolder {
 public:
  // Creates the folder where needed, takes its lock and writes the config.
  // Returns FAILED_PRECONDITION when another process trains in the folder, or
  // when the run was started with another seed, network, list of variants or
  // rule options: its games and weights would not fit.
  static absl::StatusOr<std::unique_ptr<RunFolder>> Open(
      const proto::TrainConfig& config);

  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string store_path() const;
  std::string metrics_path() const;
  std::string tensorboard_path() const;
  std::string checkpoint_path(int generation) const;

  // Returns the generation of the newest checkpoint, or -1 when there is none.
  // Reads the names of the files: `latest` may be one behind after a kill.
  absl::StatusOr<int> NewestCheckpoint() const;

  // Makes `latest` name the checkpoint of the generation, atomically.
  absl::Status PublishLatest(int generation) const;

 private:
  RunFolder(std::string path, int lock_fd);

  const std::string path_;
  const int lock_fd_;
};

// Returns "ckpt-000012": what records name as their model.
std::string CheckpointName(int generation);

// Returns the path of a run's newest checkpoint by its `latest`, for programs
// that do not train: no lock is needed. Returns NOT_FOUND naming the folder.
absl::StatusOr<std::string> LatestCheckpoint(absl::string_view run_dir);

}  // namespace tara

#endif  // TARA_TRAIN_RUN_FOLDER_H_
