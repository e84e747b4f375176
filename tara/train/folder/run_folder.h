#ifndef TARA_TRAIN_FOLDER_RUN_FOLDER_H_
#define TARA_TRAIN_FOLDER_RUN_FOLDER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/config.pb.h"
#include "proto/run_state.pb.h"
#include "tara/base/files.h"
#include "tara/nn/bundle/golden.h"
#include "tara/nn/bundle/manifest.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::train {

// The folder of a training run:
//
//   config.textproto        the resolved config, as last started
//   state.textproto         plans of generations, the gate
//   games.db                the game store
//   checkpoints/
//     ckpt-000000.pt        the network before any learning
//     ckpt-000001.pt        after the first generation, and so on
//     ckpt-000007.pt.damaged  set aside, as it could not be read
//     latest                name of the newest checkpoint, or with a gate of
//                           the best, for other programs
//   metrics.jsonl           a JSON object per line
//   lock                    held while a process trains here
//
// A RunFolder holds its lock. Thread-safe except creation.
class RunFolder {
 public:
  // Creates the folder where needed, takes its lock, writes the config, and
  // removes what a process that was killed has left half written. Returns
  // FAILED_PRECONDITION when another process trains in the folder, and the
  // errors of CheckRunFolder.
  static absl::StatusOr<std::unique_ptr<RunFolder>> Open(
      const proto::TrainConfig& config);

  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  const std::string& path() const { return path_; }
  // A warning that the folder cannot be locked; empty if it is locked.
  const std::string& lock_warning() const { return lock_.warning; }
  // The config as it is in the folder: the given one, with the values that an
  // earlier start has chosen for "auto".
  const proto::TrainConfig& config() const { return config_; }
  // Replaces the config by one with what was chosen for this run.
  absl::Status RecordConfig(const proto::TrainConfig& config);
  std::string store_path() const { return path_ + "/games.db"; }
  std::string state_path() const { return path_ + "/state.textproto"; }
  std::string metrics_path() const { return path_ + "/metrics.jsonl"; }
  std::string checkpoint_path(int generation) const;

  // Returns the generations of all checkpoints, ascending. Reads the names of
  // the files: `latest` may be one behind after a kill.
  absl::StatusOr<std::vector<int>> Checkpoints() const;

  // Removes a checkpoint, if it exists.
  absl::Status RemoveCheckpoint(int generation) const;
  // Renames a damaged checkpoint, so that it no longer counts as one.
  absl::Status SetAside(int generation) const;

  // Makes `latest` name the checkpoint of the generation, atomically.
  absl::Status PublishLatest(int generation) const;

 private:
  RunFolder(const proto::TrainConfig& config, FileLock lock);

  const std::string path_;
  const FileLock lock_;
  proto::TrainConfig config_;
};

// Returns the config for resuming a run in its folder: the given one, with the
// earlier choices for "auto". Writes nothing. Returns FAILED_PRECONDITION if
// the folder cannot be created or written to, or if the run was started with
// another seed, network, list of variants or rule options, because its games
// and weights would not fit.
absl::StatusOr<proto::TrainConfig> CheckRunFolder(
    const proto::TrainConfig& config);

// Returns "ckpt-000012": what records name as their model.
std::string CheckpointName(int generation);

// Returns whether there are checkpoints in the folder of a run. No lock is
// needed.
bool HasCheckpoints(absl::string_view run_dir);

// Returns the path of a run's player by its `latest`, for programs
// that do not train: no lock is needed. Returns NOT_FOUND naming the folder.
absl::StatusOr<std::string> LatestCheckpoint(absl::string_view run_dir);

// The state of a run (proto/run_state.proto) in its file, which contains either
// the last saved state or the one before, after a kill at any time. Not thread-
// safe.
class RunStateFile {
 public:
  // Reads the file; a run without one has the initial state. Returns DATA_LOSS,
  // naming the file and its line, if it is malformed or not the complete text
  // that Save wrote.
  static absl::StatusOr<RunStateFile> Open(const std::string& path);

  // The state that Save writes.
  proto::RunState& state() { return state_; }
  const proto::RunState& state() const { return state_; }

  // Writes the state. Returns the system's error, with the path.
  absl::Status Save() const;

  // Returns the plan of a generation, or null if none is recorded.
  const proto::GenerationPlan* PlanOf(int generation) const;
  // Records a plan and saves; the oldest plans are forgotten.
  absl::Status AddPlan(const proto::GenerationPlan& plan);

 private:
  explicit RunStateFile(std::string path) : path_(std::move(path)) {}

  std::string path_;
  proto::RunState state_;
};

// The origin of a checkpoint, as far as its folder shows it.
struct RunProvenance {
  nn::BundleProvenance provenance;
  // The variants of the run; empty if the file is not in the folder of a run.
  std::vector<nn::BundleVariant> variants;
};

// Returns the provenance of the checkpoint read from `path`. For one in the
// folder `checkpoints` of a run it includes the data of the run; for any other,
// only the content of the file. It needs no lock, also for runs in progress,
// and contains no paths of this machine. Returns the errors of reading the
// run's files.
absl::StatusOr<RunProvenance> ProvenanceOf(const std::string& path,
                                           const nn::Checkpoint& checkpoint);

// The variants with the rule options that a network has learned; nullopt:
// unknown.
using Learned = std::optional<std::vector<nn::BundleVariant>>;

// Returns what the network in a file has learned: by the manifest of a bundle,
// or the config of the run in whose folder a checkpoint lies.
Learned LearnedByModel(const std::string& file);

}  // namespace tara::train

#endif  // TARA_TRAIN_FOLDER_RUN_FOLDER_H_
