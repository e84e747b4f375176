#ifndef TARA_MCTS_LEAF_SOLVER_H_
#define TARA_MCTS_LEAF_SOLVER_H_

#include <optional>

#include "tara/core/state.h"

namespace tara::mcts {

// Solves positions near the end of the game: the seam between the search and
// an exact solver.
class LeafSolver {
 public:
  virtual ~LeafSolver() = default;

  // Returns Red's points minus Blue's under best play of both sides, or
  // nothing where it gives up. REQUIRES: the state is not finished.
  virtual std::optional<int> SolveRedMargin(const State& state) = 0;

  // Whether several threads may ask at a time.
  virtual bool thread_safe() const { return false; }
};

}  // namespace tara::mcts

#endif  // TARA_MCTS_LEAF_SOLVER_H_
