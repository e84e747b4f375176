// The parts of a run that try checkpoints, and say which of them stay.

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tara/base/status_macros.h"
#include "tara/train/folder/retention.h"
#include "tara/train/run/gate.h"
#include "tara/train/run/training_run.h"

namespace tara::train {

absl::Status TrainingRun::PassGate() {
  const int candidate = standing_.generation;
  proto::GateState& gate = *state().mutable_gate();
  if (gated() && static_cast<int>(gate.checked()) < candidate) {
    const int best = player();
    progress_.BeginEvaluation(candidate);
    TARA_ASSIGN_OR_RETURN(
        std::vector<GateResult> results,
        callbacks_.gate({.candidate_path = folder_->checkpoint_path(candidate),
                         .candidate = candidate,
                         .best_path = folder_->checkpoint_path(best),
                         .best = best,
                         .inference = config_.inference(),
                         .on_progress = [this](const StrengthProgress& played) {
                           KeepTime();
                           progress_.Evaluated(played);
                         }}));
    if (stop_()) return absl::CancelledError("the gate was interrupted");
    const bool promoted =
        std::none_of(results.begin(), results.end(),
                     [](const GateResult& result) { return result.weaker; });
    gate.set_checked(candidate);
    if (promoted) {
      gate.set_best_before(best);
      gate.set_best(candidate);
    }
    gate.set_promoted(gate.promoted() + promoted);
    gate.set_rejected(gate.rejected() + !promoted);
    const GateReport report = {.candidate = candidate,
                               .best = best,
                               .promoted = promoted,
                               .results = std::move(results)};
    const std::vector<std::string> lines = log_->Gate(report);
    TARA_RETURN_IF_ERROR(SaveState(lines));
    progress_.EndGate(GateText(report, gate.promoted(), gate.rejected()));
    TARA_RETURN_IF_ERROR(log_->Append(lines));
  }
  // A kill may have come between a checkpoint and its publication.
  return folder_->PublishLatest(player());
}

bool TrainingRun::EvaluationIsDue(int checkpoint) const {
  const int every = static_cast<int>(config_.evaluation().every());
  // One that does not play has nothing to show.
  return every > 0 && checkpoint % every == 0 && checkpoint < generations() &&
         checkpoint == player();
}

absl::StatusOr<std::vector<StrengthResult>> TrainingRun::Evaluate(
    int checkpoint, bool is_final) {
  if (!callbacks_.evaluate || checkpoint == 0) {
    return std::vector<StrengthResult>();
  }
  progress_.BeginEvaluation(checkpoint);
  auto strength = callbacks_.evaluate(
      {.checkpoint_path = folder_->checkpoint_path(checkpoint),
       .generation = checkpoint,
       .is_final = is_final,
       .first_checkpoint_path = folder_->checkpoint_path(1),
       .inference = config_.inference(),
       .on_progress = [this](const StrengthProgress& evaluated) {
         KeepTime();
         progress_.Evaluated(evaluated);
       }});
  TARA_RETURN_IF_ERROR(strength.status());
  if (stop_()) return absl::CancelledError("the evaluation was interrupted");
  progress_.EndEvaluation(checkpoint, *strength);
  const std::vector<std::string> lines =
      log_->Strength(checkpoint, is_final, *strength);
  if (!is_final) {
    state_->SetScores(*strength);
    state().set_evaluated(static_cast<uint32_t>(checkpoint));
  }
  TARA_RETURN_IF_ERROR(SaveState(lines));
  TARA_RETURN_IF_ERROR(log_->Append(lines));
  return strength;
}

absl::Status TrainingRun::CatchUpOnEvaluation() {
  if (!EvaluationIsDue(standing_.generation) ||
      static_cast<int>(state().evaluated()) >= standing_.generation) {
    return absl::OkStatus();
  }
  return Evaluate(standing_.generation, /*is_final=*/false).status();
}

absl::Status TrainingRun::ThinOut() {
  const int newest = standing_.generation;
  const proto::GateState& gate = state().gate();
  std::set<int> needed = {newest, newest - 1, static_cast<int>(gate.best()),
                          static_cast<int>(gate.best_before())};
  for (const proto::GenerationPlan& plan : state().plan()) {
    if (static_cast<int>(plan.generation()) >= newest) {
      needed.insert(static_cast<int>(plan.model()));
    }
  }
  TARA_ASSIGN_OR_RETURN(const std::vector<int> there, folder_->Checkpoints());
  for (const int old :
       CheckpointsToRemove(there, config_.retention(), needed)) {
    TARA_RETURN_IF_ERROR(folder_->RemoveCheckpoint(old));
  }
  const uint64_t kept = config_.retention().keep_games();
  if (kept == 0) return absl::OkStatus();
  TARA_ASSIGN_OR_RETURN(const GamePlan plan, Plan(newest - 1, player()));
  if (plan.end <= kept) return absl::OkStatus();
  // First, so that games that are missing later have been lost.
  state().set_first_game(plan.end - kept);
  TARA_RETURN_IF_ERROR(state_->Save());
  return store_->RemoveBefore(plan.end - kept);
}

}  // namespace tara::train
