#ifndef TARA_TRAIN_STRENGTH_H_
#define TARA_TRAIN_STRENGTH_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/config.pb.h"

namespace tara::train {

// The result of a checkpoint against one opponent in one variant.
struct StrengthResult {
  std::string variant;
  std::string opponent;  // as people should read it: "random", "ckpt-000001"
  int games = 0;
  int wins = 0;
  int draws = 0;
  int losses = 0;
  // Mean of win 1, draw 1/2, loss 0, with its 95 % interval.
  double score = 0;
  double score_low = 0;
  double score_high = 0;
  // Games that the opponent gave up, an engine that crashed; among the wins.
  int forfeits = 0;
  // At the gate: clearly weaker, so that the checkpoint is not to play.
  bool weaker = false;
};

// The progress of an evaluation.
struct StrengthProgress {
  std::string opponent;  // at present
  int games = 0;         // finished, against all opponents in all variants
  int games_wanted = 0;
};

// A checkpoint to evaluate, or to try at the gate.
struct StrengthRequest {
  std::string checkpoint_path = {};
  int generation = 0;     // of the checkpoint
  bool is_final = false;  // at the end of the run: more games
  // At the gate the best checkpoint so far, the only opponent; at the end of
  // the run the one after its first generation, one more; otherwise empty.
  std::string opponent_path = {};
  // How networks are computed: the config's, with what was chosen for this run
  // where that says "auto".
  proto::InferenceConfig inference = {};
  // Called from time to time; may be empty.
  std::function<void(const StrengthProgress&)> on_progress = {};
};

// Plays a checkpoint against the opponents of the config, or at the gate, in
// every variant of the config. Given to RunTraining as a callback, since
// training and evaluation do not use each other. Results of the gate must
// depend on the request and the config alone. Returns CANCELLED when it was
// interrupted.
using StrengthEvaluator =
    std::function<absl::StatusOr<std::vector<StrengthResult>>(
        const StrengthRequest&)>;

}  // namespace tara::train

#endif  // TARA_TRAIN_STRENGTH_H_
