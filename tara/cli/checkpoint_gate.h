#ifndef TARA_CLI_CHECKPOINT_GATE_H_
#define TARA_CLI_CHECKPOINT_GATE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "proto/config.pb.h"
#include "tara/train/run/gate.h"
#include "tara/train/stop.h"

namespace tara::cli {

// Plays a candidate against the best checkpoint in each variant of the config,
// by pairs of games with one opening, at most gate.games of them. A sequential
// test (tara/eval/statistics/sprt.h) ends them early: the candidate is weaker
// if H0, "it is weaker by gate.max_drop_elo", is accepted against H1, "it is as
// strong". Where the test has not decided by the last game, it is not weaker.
// The chance to take an equal candidate for weaker is 5 % over all variants
// together.
//
// Depends on the request and the config alone: not on threads, nor on time.
// Returns CANCELLED when `stop` says so, or a player's error.
// REQUIRES: `config` is resolved; gate.games > 0.
absl::StatusOr<std::vector<train::GateResult>> PlayGate(
    const proto::TrainConfig& config, const train::GateRequest& request,
    const train::StopCheck& stop);

}  // namespace tara::cli

#endif  // TARA_CLI_CHECKPOINT_GATE_H_
