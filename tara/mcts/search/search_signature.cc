#include <cmath>
#include <vector>

#include "tara/base/check.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/mcts/options/search_options.h"
#include "tara/mcts/search/many_games.h"
#include "tara/mcts/tree/tree.h"
#include "tara/mcts/utility.h"

namespace tara::mcts {
namespace {

constexpr int kSimulations = 250;
constexpr uint64_t kSeed = 1;

// The start, the middle and a late position of a random game.
std::vector<State> PositionsOf(Variant variant) {
  Random random(
      DeriveSeed(kSeed, static_cast<uint64_t>(variant), StreamPurpose::kTest));
  std::vector<State> game = {InitialState(variant)};
  while (!game.back().finished()) {
    State next = game.back();
    ApplyAction(RandomAction(next, random), next);
    game.push_back(next);
  }
  return {game[0], game[game.size() / 2], game[game.size() * 7 / 8 - 1]};
}

std::vector<SearchOptions> AllOptions() {
  return {
      {.simulations = kSimulations, .dirichlet_fraction = 0.25f},
      {.simulations = kSimulations,
       .dirichlet_fraction = 0.25f,
       .forced_playouts = 2.0f},
      {.simulations = kSimulations,
       .utility = {.kind = UtilityKind::kMix},
       .graph_search = true,
       .proof = true},
      {.simulations = kSimulations,
       .virtual_loss = 1.0f,
       .gumbel = true,
       .graph_search = true},
  };
}

uint64_t HashTree(const Tree& tree, uint64_t hash) {
  const auto add = [&hash](int64_t number) {
    hash = MixBits(hash ^ static_cast<uint64_t>(number));
  };
  add(tree.root_visits());
  add(tree.num_nodes());
  for (const RootAction& action : tree.root_actions()) {
    add(Index(action.action));
    add(action.visits);
    add(std::lround(action.mean_value * 10000));
    add(action.low);
    add(action.high);
  }
  return hash;
}

}  // namespace

uint64_t SearchSignature() {
  HashEvaluator evaluator;
  uint64_t hash = 0;
  for (const VariantInfo& info : kVariants) {
    for (const State& position : PositionsOf(info.variant)) {
      int leaves = 1;
      for (const SearchOptions& options : AllOptions()) {
        Tree tree(options, position, kSeed);
        // Two searches, so that re-rooting has its part; several leaves at a
        // time in every second one.
        for (int ply = 0; ply < 2 && !tree.finished(); ++ply) {
          TARA_CHECK(RunSearches({&tree}, evaluator, leaves).ok(),
                     "the evaluator never fails");
          hash = HashTree(tree, hash);
          tree.Advance(tree.principal_variation()[0]);
        }
        leaves = 5 - leaves;
      }
    }
  }
  return hash;
}

}  // namespace tara::mcts
