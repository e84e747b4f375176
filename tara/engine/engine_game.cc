#include "tara/engine/engine_game.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "tara/base/status_macros.h"
#include "tara/core/outcome.h"
#include "tara/core/rules.h"

namespace tara::engine {

absl::Status EngineGame::Play(absl::string_view text) {
  TARA_ASSIGN_OR_RETURN(const Action action, ParseAction(text));
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

std::vector<std::string> LegalActionNotation(const State& state) {
  std::vector<std::string> texts;
  LegalActions(state).ForEach(
      [&](Action action) { texts.push_back(ActionToText(action)); });
  std::sort(texts.begin(), texts.end());
  return texts;
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
