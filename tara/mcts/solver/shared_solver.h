#ifndef TARA_MCTS_SOLVER_SHARED_SOLVER_H_
#define TARA_MCTS_SOLVER_SHARED_SOLVER_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "tara/core/state.h"
#include "tara/mcts/leaf_solver.h"
#include "tara/mcts/solver/endgame_solver.h"

namespace tara::mcts {

// The solver of trees that several threads search: an EndgameSolver, with a
// table of its own, for each thread that asks at a time. Thread-safe.
class SharedSolver : public LeafSolver {
 public:
  // `options` are those of each EndgameSolver.
  explicit SharedSolver(const SolverOptions& options = {});

  std::optional<int> SolveRedMargin(const State& state) override
      ABSL_LOCKS_EXCLUDED(mutex_);
  bool thread_safe() const override { return true; }

 private:
  const SolverOptions options_;
  absl::Mutex mutex_;
  // The latest used comes last, and is the next: one thread has one solver.
  std::vector<std::unique_ptr<EndgameSolver>> idle_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tara::mcts

#endif  // TARA_MCTS_SOLVER_SHARED_SOLVER_H_
