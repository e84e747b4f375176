#ifndef TARA_TRAIN_FOLDER_RUN_STATE_H_
#define TARA_TRAIN_FOLDER_RUN_STATE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/run_state.pb.h"
#include "tara/train/strength.h"

namespace tara::train {

// The state of a run (proto/run_state.proto) in its file, which holds either
// what was saved last or what was before, whatever is killed when. Not
// thread-safe.
class RunStateFile {
 public:
  // Reads the file; a run without one has the state that all begin with.
  // Returns DATA_LOSS, naming the file and its line, if it is no such state.
  static absl::StatusOr<RunStateFile> Open(const std::string& path);

  // What Save writes.
  proto::RunState& state() { return state_; }
  const proto::RunState& state() const { return state_; }

  // Writes the state. Returns the system's error, with the path.
  absl::Status Save() const;

  // Returns the plan of a generation, or null if none is recorded.
  const proto::GenerationPlan* PlanOf(int generation) const;
  // Records a plan and saves; the oldest plans are forgotten.
  absl::Status AddPlan(const proto::GenerationPlan& plan);

  // Records the result of an evaluation; does not save it.
  void SetScores(const std::vector<StrengthResult>& strength);

 private:
  explicit RunStateFile(std::string path) : path_(std::move(path)) {}

  std::string path_;
  proto::RunState state_;
};

}  // namespace tara::train

#endif  // TARA_TRAIN_FOLDER_RUN_STATE_H_
