#include "tara/eval/arena/action_type.h"

#include <array>
#include <cstddef>

#include "tara/core/board.h"
#include "tara/core/rules.h"
#include "tara/core/traits.h"

namespace tara::eval {

absl::string_view ActionTypeName(ActionType type) {
  constexpr std::array<absl::string_view, kNumActionTypes> kNames = {
      "build", "capture", "backtrack", "sacrifice", "swap", "link", "pass"};
  return kNames[static_cast<size_t>(type)];
}

ActionType TypeOf(const State& state, Action action) {
  const ActionParts parts = Parts(action);
  switch (parts.kind) {
    case ActionKind::kSacrifice:
      return ActionType::kSacrifice;
    case ActionKind::kLink:
      return ActionType::kLink;
    case ActionKind::kPass:
      return MaySwap(state) ? ActionType::kSwap : ActionType::kPass;
    case ActionKind::kHill:
    case ActionKind::kKingMove:
      break;
  }
  const Board to = BoardOf(parts.to);
  if ((state.vacant() & to) != 0) return ActionType::kBuild;
  if ((state.ringforts[state.side()] & to) != 0) return ActionType::kBacktrack;
  return TraitsOf(state.variant).has_links ? ActionType::kSwap
                                           : ActionType::kCapture;
}

Action WithoutType(const State& state, absl::Span<const float> policy,
                   Action choice, ActionType avoided) {
  if (TypeOf(state, choice) != avoided) return choice;
  float most = -1;
  size_t i = 0;
  Action best = choice;
  LegalActions(state).ForEach([&](Action action) {
    const float weight = policy.empty() ? 0 : policy[i];
    ++i;
    if (weight <= most || TypeOf(state, action) == avoided) return;
    most = weight;
    best = action;
  });
  return best;
}

}  // namespace tara::eval
