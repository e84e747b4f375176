#include "web/wasm/search.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "tara/base/check.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/outcome.h"
#include "tara/mcts/levels/levels.h"
#include "tara/mcts/options/search_options.h"
#include "tara/mcts/tree/tree.h"
#include "web/wasm/views.h"

namespace tara::web {
namespace {

using emscripten::val;

// A tab of a browser has less room than a machine.
constexpr int64_t kMaxBytes = int64_t{256} << 20;

mcts::SearchOptions OptionsFor(Variant variant, int simulations, bool network,
                               int level, mcts::LeafSolver* solver) {
  mcts::SearchOptions search =
      level == 0 ? mcts::ForPlay()
                 : mcts::SearchOfLevel(mcts::kLevels[level - 1]);
  search.simulations = simulations;
  search.max_bytes = kMaxBytes;
  if (!network) search.c_puct = mcts::kPlayoutCPuct;
  mcts::SetForVariant(variant, solver, search);
  return search;
}

val Indices(const std::vector<Action>& line) {
  return Array(line.size(), [&](int i) { return Index(line[i]); });
}

// Returns Red's bounds from the bounds of the side to move.
val RedBounds(const mcts::RootAction& action, Side side) {
  if (action.low <= -kMaxMargin && action.high >= kMaxMargin) {
    return val::null();
  }
  return side == kRed ? ToPair(int{action.low}, int{action.high})
                      : ToPair(-int{action.high}, -int{action.low});
}

}  // namespace

Search::Search(const State& root, int simulations, bool network, int level,
               uint64_t seed)
    : value_margin_(level == 0 ? 0 : mcts::kLevels[level - 1].value_margin),
      tree_(OptionsFor(root.variant, simulations, network, level, &solver_),
            root, DeriveSeed(seed, 0, StreamPurpose::kArena)),
      playouts_(1, seed) {}

void Search::Run(Network* network, int most) {
  leaves_.resize(std::max(leaves_.size(), static_cast<size_t>(most)));
  states_.clear();
  bool full = false;
  // At least one, even if the tree is done: its root may need an evaluation.
  while (!full && states_.size() < static_cast<size_t>(most) && !tree_.done() &&
         tree_.in_flight() < tree_.simulations_left()) {
    mcts::Tree::Leaf& leaf = leaves_[states_.size()];
    switch (tree_.Gather(leaf)) {
      case mcts::Tree::Gathered::kLeaf:
        states_.push_back(leaf.state);
        break;
      case mcts::Tree::Gathered::kFinished:
        break;
      case mcts::Tree::Gathered::kInFlight:
      case mcts::Tree::Gathered::kFull:
        full = true;
        break;
    }
  }
  const size_t size = states_.size();
  if (size == 0) return;
  evaluations_.resize(std::max(evaluations_.size(), size));
  mcts::Evaluator& evaluator =
      network != nullptr ? static_cast<mcts::Evaluator&>(*network) : playouts_;
  const absl::Status status =
      evaluator.Evaluate(states_, absl::MakeSpan(evaluations_).first(size));
  TARA_CHECK(status.ok(), "these evaluators never fail");
  for (size_t i = 0; i < size; ++i) tree_.Apply(leaves_[i], evaluations_[i]);
}

val Search::Report() const {
  const Side side = tree_.root().side();
  const double sign = side == kRed ? 1 : -1;
  const std::vector<mcts::RootAction> actions = tree_.root_actions();
  return Object(
      {{"simulations", tree_.root_visits()},
       {"redValue", sign * tree_.root_value()},
       {"redMargin", sign * tree_.root_margin()},
       {"actions",
        Array(actions.size(),
              [&](int i) {
                const mcts::RootAction& action = actions[i];
                return Object(
                    {{"action", Index(action.action)},
                     {"visits", action.visits},
                     {"prior", action.prior},
                     {"value", action.mean_value},
                     {"redValue", sign * action.mean_value},
                     {"provedRedMargin", RedBounds(action, side)},
                     {"line", Indices(mcts::LineAfter(tree_, action.action))}});
              })},
       {"principalVariation", Indices(tree_.principal_variation())}});
}

int Search::Choose(double temperature, uint64_t seed) const {
  Random random(DeriveSeed(seed, 1, StreamPurpose::kArena));
  if (temperature == 0 && value_margin_ > 0) {
    return Index(mcts::ChooseWithinMargin(tree_, value_margin_, random));
  }
  return Index(mcts::ChooseAction(tree_, mcts::kPlayConfidenceZ,
                                  static_cast<float>(temperature), random));
}

}  // namespace tara::web
