#include "tara/mcts/solver/shared_solver.h"

#include <utility>

namespace tara::mcts {

SharedSolver::SharedSolver(const SolverOptions& options) : options_(options) {}

std::optional<int> SharedSolver::SolveRedMargin(const State& state) {
  std::unique_ptr<EndgameSolver> solver;
  {
    absl::MutexLock lock(&mutex_);
    if (!idle_.empty()) {
      solver = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (solver == nullptr) solver = std::make_unique<EndgameSolver>(options_);
  const std::optional<int> margin = solver->SolveRedMargin(state);
  absl::MutexLock lock(&mutex_);
  idle_.push_back(std::move(solver));
  return margin;
}

}  // namespace tara::mcts
