#ifndef TARA_CLI_TRAIN_H_
#define TARA_CLI_TRAIN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/config.pb.h"
#include "tara/base/threads.h"
#include "tara/fleet/fleet.h"
#include "tara/train/run/pipeline.h"
#include "tara/train/strength.h"

namespace tara::cli {

// Plays a checkpoint against the opponents of the config, in each of its
// variants; at the end of a run against its first checkpoint too. What joins
// training with evaluation: tara/train and tara/eval do not use each other.
// A fleet, if there is one, plays the games that are the same elsewhere.
// Returns CANCELLED when `stop` is true, or a player's error, or Fleet::Play's.
// REQUIRES: `config` is resolved.
absl::StatusOr<std::vector<train::StrengthResult>> EvaluateCheckpoint(
    const proto::TrainConfig& config, const train::StrengthRequest& request,
    fleet::Fleet* fleet, const StopCheck& stop);

// Plays a candidate against the best checkpoint in each variant of the config,
// by the matches and the decision of tara/eval/arena/arena.h.
//
// Depends only on the request and the config: not on threads, a fleet that
// plays, or time. Returns CANCELLED when `stop` is true, or a player's error,
// or Fleet::Play's. REQUIRES: `config` is resolved; gate.games > 0.
absl::StatusOr<std::vector<train::StrengthResult>> PlayGate(
    const proto::TrainConfig& config, const train::StrengthRequest& request,
    fleet::Fleet* fleet, const StopCheck& stop);

// Returns the table at the end of a run: the learned player against each
// opponent, with score, 95 % interval and difference in Elo.
std::string StrengthReport(const train::TrainSummary& summary,
                           const proto::TrainConfig& config);

// Returns the scores over the generations of a run from its metrics, a small
// curve per opponent and variant; empty if fewer than two generations were
// evaluated. Skips lines that are not events or lack a field, and states their
// number. Errors of ReadMetricsLines.
absl::StatusOr<std::string> StrengthCurves(const std::string& metrics_path);

}  // namespace tara::cli

#endif  // TARA_CLI_TRAIN_H_
