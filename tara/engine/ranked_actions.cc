#include "tara/engine/ranked_actions.h"

#include <algorithm>

#include "tara/core/board.h"
#include "tara/mcts/utility.h"

namespace tara::engine {
namespace {

bool MayChoose(const mcts::Tree& tree) {
  return tree.root_visits() > 0 || tree.settled();
}

}  // namespace

Action ChooseFrom(const mcts::Tree& tree, float confidence_z, float temperature,
                  Random& random) {
  const mcts::Utility utility(tree.options().utility);
  const Side side = tree.root().side();
  if (tree.options().gumbel && !tree.settled() && temperature == 0) {
    return tree.gumbel_action();
  }
  return mcts::ChooseAction(
      tree.root_actions(),
      {.temperature = temperature,
       .confidence_z = confidence_z,
       .worth = [&](int margin) { return utility.OfMargin(margin, side); }},
      random);
}

std::vector<mcts::RootAction> RankActions(const mcts::Tree& tree,
                                          float confidence_z) {
  std::vector<mcts::RootAction> actions = tree.root_actions();
  std::stable_sort(actions.begin(), actions.end(),
                   [](const mcts::RootAction& a, const mcts::RootAction& b) {
                     if (a.visits != b.visits) return a.visits > b.visits;
                     return a.prior > b.prior;
                   });
  if (!MayChoose(tree)) return actions;
  // Complete ties are drawn: always in the same way, so that a report is.
  Random ties(1);
  const Action best = ChooseFrom(tree, confidence_z, 0, ties);
  const auto found = std::find_if(
      actions.begin(), actions.end(),
      [&](const mcts::RootAction& action) { return action.action == best; });
  std::rotate(actions.begin(), found, found + 1);
  return actions;
}

}  // namespace tara::engine
