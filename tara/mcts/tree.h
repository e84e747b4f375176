#ifndef TARA_MCTS_TREE_H_
#define TARA_MCTS_TREE_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/state.h"
#include "tara/mcts/evaluator.h"

namespace tara {

struct SearchOptions {
  int simulations = 100;  // per root, visits kept from the last root included
  float c_puct = 1.5f;
  float first_play_urgency_reduction = 0.2f;
  // Dirichlet noise on the root's priors; fraction 0 turns it off.
  float dirichlet_concentration = 10.0f;  // alpha = this / legal actions
  float dirichlet_fraction = 0.0f;
};

// One legal action of the root after a search.
struct RootAction {
  Action action;
  float prior;  // without noise
  int visits;
  float mean_value;  // Q for the side to move at the root; 0 if not visited
};

// A search tree over one game by PUCT. A simulation is a Gather (walk down to
// a leaf that needs an evaluation) and an Apply (give the answer back);
// batches and threads live outside. Values are kept by side, never by ply.
// Not thread-safe: one owner.
class Tree {
 public:
  // A leaf in flight, from Gather to Apply.
  struct Leaf {
    State state;
    std::vector<int32_t> path;  // edges from the root
  };

  enum class Gathered {
    kLeaf,      // `leaf` is to be evaluated and applied
    kFinished,  // the walk ended at a finished game: the simulation is done
    kInFlight,  // the walk met a leaf already in flight: apply that first
  };

  Tree(const SearchOptions& options, const State& root, uint64_t seed);

  // Whether the root has had its simulations.
  bool done() const;

  // REQUIRES: the root is not finished.
  Gathered Gather(Leaf& leaf);
  void Apply(const Leaf& leaf, const Evaluation& evaluation);

  // Makes the position after `action` the root and keeps its subtree; new
  // noise is drawn. REQUIRES: the action is legal; no leaf is in flight.
  void Advance(Action action);

  const State& root() const;
  int root_visits() const;
  // Win minus loss for the side to move at the root, in [-1, 1].
  float root_value() const;
  // In the order of LegalSet::ForEach.
  std::vector<RootAction> root_actions() const;
  // Returns the most visited line from the root.
  std::vector<Action> principal_variation() const;
};

// Draws an action from visits^(1/temperature); temperature 0 gives the most
// visited (ties: the higher prior). REQUIRES: at least one visit.
Action ChooseAction(absl::Span<const RootAction> actions, float temperature,
                    Random& random);

// Runs the simulations of all trees to the end, one leaf of each in a batch.
// Errors as the evaluator's.
absl::Status RunSearches(absl::Span<Tree* const> trees, Evaluator& evaluator);

}  // namespace tara

#endif  // TARA_MCTS_TREE_H_
