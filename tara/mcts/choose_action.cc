#include "tara/mcts/choose_action.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "tara/base/check.h"

namespace tara {
namespace {

std::tuple<int, float, float> Rank(const RootAction& action) {
  return {action.visits, action.prior, action.mean_value};
}

Action ChooseBest(absl::Span<const RootAction> actions, Random& random) {
  const RootAction* best = nullptr;
  uint32_t tied = 0;
  for (const RootAction& action : actions) {
    if (best == nullptr || Rank(action) > Rank(*best)) {
      best = &action;
      tied = 1;
    } else if (Rank(action) == Rank(*best) && random.Below(++tied) == 0) {
      best = &action;  // each of the tied ends up with the same chance
    }
  }
  return best->action;
}

}  // namespace

Action ChooseAction(absl::Span<const RootAction> actions, float temperature,
                    Random& random) {
  TARA_CHECK(temperature >= 0, "negative temperature");
  int most_visits = 0;
  for (const RootAction& action : actions) {
    most_visits = std::max(most_visits, action.visits);
  }
  TARA_CHECK(most_visits > 0, "choosing an action without a search");
  if (temperature == 0) return ChooseBest(actions, random);

  // Relative to the largest count, so that no power overflows.
  std::vector<double> weights;
  weights.reserve(actions.size());
  double total = 0;
  for (const RootAction& action : actions) {
    const double share = static_cast<double>(action.visits) / most_visits;
    weights.push_back(share == 0 ? 0 : std::pow(share, 1.0 / temperature));
    total += weights.back();
  }
  double draw = random.Uniform() * total;
  size_t chosen = actions.size();
  for (size_t i = 0; i < actions.size(); ++i) {
    if (weights[i] == 0) continue;
    chosen = i;
    draw -= weights[i];
    if (draw < 0) break;
  }
  return actions[chosen].action;  // rounding: the last one with a weight
}

}  // namespace tara
