#ifndef TARA_TRAIN_RUN_GATE_H_
#define TARA_TRAIN_RUN_GATE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/config.pb.h"
#include "tara/train/strength.h"

namespace tara::train {

// How a candidate fared against the best checkpoint so far in one variant.
struct GateResult {
  StrengthResult result;  // of the candidate
  bool weaker = false;    // clearly: the candidate is not to play
};

struct GateRequest {
  std::string candidate_path;
  int candidate = 0;  // number of the checkpoint
  std::string best_path;
  int best = 0;
  proto::InferenceConfig inference = {};  // as in StrengthRequest
  // Told from time to time; may be empty.
  std::function<void(const StrengthProgress&)> on_progress;
};

// Plays a candidate against the best checkpoint, in every variant of the
// config. Given to the pipeline by whoever joins training and evaluation. What
// it returns must depend on the request and the config alone. Returns CANCELLED
// when it was interrupted.
using GateKeeper =
    std::function<absl::StatusOr<std::vector<GateResult>>(const GateRequest&)>;

// What the gate made of a checkpoint.
struct GateReport {
  int candidate = 0;
  int best = 0;  // that it was tried against
  bool promoted = false;
  std::vector<GateResult> results;
};

// Returns what people should read of it, with how many checkpoints the gate has
// let through and how many not: "ckpt-000005 plays (let through 4, not 1)", or
// "ckpt-000004 still plays: ckpt-000005 is weaker in four_treasures, 38 % [30,
// 46] (...)".
std::string GateText(const GateReport& report, int promoted, int rejected);

}  // namespace tara::train

#endif  // TARA_TRAIN_RUN_GATE_H_
