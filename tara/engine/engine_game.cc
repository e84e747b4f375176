#include "tara/engine/engine_game.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "tara/base/status_macros.h"
#include "tara/core/outcome.h"
#include "tara/core/rules.h"
#include "tara/mcts/time/time_manager.h"

namespace tara::engine {
namespace {

constexpr double kMaxSeconds = 100 * 3600;

absl::Status CheckSeconds(double seconds) {
  // Written so that NaN fails.
  if (seconds >= 0 && seconds <= kMaxSeconds) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "a time of ", seconds, " s; expected 0 to ", kMaxSeconds, " s"));
}

}  // namespace

absl::Status EngineClocks::Set(double main_s, double increment_s) {
  for (const double seconds : {main_s, increment_s}) {
    if (absl::Status status = CheckSeconds(seconds); !status.ok()) {
      return status;
    }
  }
  if (main_s > 0) {
    control_ = mcts::TimeControl{.per_game = absl::Seconds(main_s),
                                 .increment = absl::Seconds(increment_s)};
  } else if (increment_s > 0) {
    control_ = mcts::TimeControl{.per_move = absl::Seconds(increment_s)};
  } else {
    control_.reset();
  }
  Restart();
  return absl::OkStatus();
}

absl::Status EngineClocks::SetLeft(Side side, double left_s) {
  if (!control_.has_value() || control_->is_per_move()) {
    return absl::FailedPreconditionError(
        "no time for the game was set; expected time_settings MAIN_S "
        "INCREMENT_S before, with a MAIN_S above 0");
  }
  if (absl::Status status = CheckSeconds(left_s); !status.ok()) return status;
  managers_[side]->set_left(absl::Seconds(left_s));
  return absl::OkStatus();
}

void EngineClocks::Restart() {
  for (std::optional<mcts::TimeManager>& manager : managers_) {
    manager.reset();
    if (control_.has_value()) manager.emplace(*control_, mcts::TimeOptions());
  }
}

std::optional<mcts::MoveBudget> EngineClocks::BudgetFor(const State& state,
                                                        int ply) const {
  const std::optional<mcts::TimeManager>& manager = managers_[state.side()];
  if (!manager.has_value()) return std::nullopt;
  return manager->BudgetFor(ply, mcts::ExpectedActionsLeft(state) / 2);
}

void EngineClocks::Spend(Side side, absl::Duration time) {
  if (managers_[side].has_value()) managers_[side]->Spend(time);
}

absl::Status EngineGame::Play(absl::string_view text) {
  TARA_ASSIGN_OR_RETURN(const Action action, ParseAction(text, state()));
  State next = state();
  TARA_RETURN_IF_ERROR(PlayAction(action, next));
  states_.push_back(next);
  actions_.push_back(action);
  return absl::OkStatus();
}

void EngineGame::Play(Action action) {
  State next = state();
  ApplyAction(action, next);
  states_.push_back(next);
  actions_.push_back(action);
}

bool EngineGame::Undo() {
  if (actions_.empty()) return false;
  actions_.pop_back();
  states_.pop_back();
  return true;
}

std::string ResultText(const State& state) {
  const Outcome outcome = Score(state);
  const auto pair = [](const std::array<int, 2>& by_side) {
    return absl::StrCat(by_side[0], ",", by_side[1]);
  };
  return absl::StrCat(
      "points ", pair(outcome.points), " kingdoms ", pair(outcome.kingdoms),
      " territory ", pair(outcome.territory), " bridges ",
      pair(outcome.bridges), " kings_captured ", pair(outcome.kings_captured),
      " ended_by ", EndingName(outcome.ended_by));
}

}  // namespace tara::engine
