#include "tara/engine/ranked_actions.h"

#include <algorithm>

#include "tara/core/board.h"
#include "tara/mcts/utility.h"

namespace tara {
namespace {

bool MayChoose(const Tree& tree) {
  return tree.root_visits() > 0 || tree.settled();
}

}  // namespace

Action ChooseFrom(const Tree& tree, float confidence_z, float temperature,
                  Random& random) {
  const Utility utility(tree.options().utility);
  const Side side = tree.root().side();
  if (tree.options().gumbel && !tree.settled() && temperature == 0) {
    return tree.gumbel_action();
  }
  return ChooseAction(
      tree.root_actions(),
      {.temperature = temperature,
       .confidence_z = confidence_z,
       .worth = [&](int margin) { return utility.OfMargin(margin, side); }},
      random);
}

std::vector<RootAction> RankActions(const Tree& tree, float confidence_z) {
  std::vector<RootAction> actions = tree.root_actions();
  std::stable_sort(actions.begin(), actions.end(),
                   [](const RootAction& a, const RootAction& b) {
                     if (a.visits != b.visits) return a.visits > b.visits;
                     return a.prior > b.prior;
                   });
  if (!MayChoose(tree)) return actions;
  // Complete ties are drawn: always in the same way, so that a report is.
  Random ties(1);
  const Action best = ChooseFrom(tree, confidence_z, 0, ties);
  const auto found = std::find_if(
      actions.begin(), actions.end(),
      [&](const RootAction& action) { return action.action == best; });
  std::rotate(actions.begin(), found, found + 1);
  return actions;
}

}  // namespace tara
