#ifndef TARA_WEB_WASM_SEARCH_H_
#define TARA_WEB_WASM_SEARCH_H_

#include <emscripten/val.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "tara/core/state.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/mcts/solver/endgame_solver.h"
#include "tara/mcts/tree/tree.h"
#include "web/wasm/network.h"

namespace tara::web {

// The search of one position, in steps. Between two steps, callers may report
// it, continue or end.
class Search {
 public:
  // `network`: whether one answers; else random games do. `level` is one of
  // strength (tara/mcts/levels/levels.h), from 1; 0: the usual search.
  // REQUIRES: the root is not finished; simulations >= 1.
  Search(const State& root, int simulations, bool network, int level,
         uint64_t seed);
  // The tree borrows the solver.
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  bool done() const { return tree_.done(); }

  // Gathers at most `most` leaves and evaluates them by the network, or by
  // random games without one.
  void Run(Network* network, int most);

  // Returns {simulations, redValue, redMargin, actions, principalVariation}.
  emscripten::val Report() const;

  // Returns the action to play, at temperature 0 as the level does. REQUIRES:
  // there was a simulation, or the root is proved.
  int Choose(double temperature, uint64_t seed) const;

 private:
  const float value_margin_;  // of the level
  mcts::EndgameSolver solver_;
  mcts::Tree tree_;
  mcts::PlayoutEvaluator playouts_;
  // Of a step; there may be more leaves and evaluations than states.
  std::vector<mcts::Tree::Leaf> leaves_;
  std::vector<State> states_;
  std::vector<mcts::Evaluation> evaluations_;
};

}  // namespace tara::web

#endif  // TARA_WEB_WASM_SEARCH_H_
