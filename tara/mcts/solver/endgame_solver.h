#ifndef TARA_MCTS_SOLVER_ENDGAME_SOLVER_H_
#define TARA_MCTS_SOLVER_ENDGAME_SOLVER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "tara/core/action.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/options/search_options.h"

namespace tara::mcts {

// What is known while a position is being solved: Red's margin under best
// play lies from low to high.
struct SolverProgress {
  int low;
  int high;
  int64_t nodes;
  int iteration;  // null-window searches begun
};

struct SolverOptions {
  // Memory of the transposition table, which is allocated at once. More helps
  // where a solve takes longer than a moment; at the leaves of a search a table
  // that fits the processor's cache is faster.
  int64_t table_bytes = int64_t{1} << 20;
  // Positions after which a solve gives up; 0: never.
  int64_t node_limit = 0;
  // Called now and then (every some thousand nodes, and after each iteration);
  // false makes the solve give up. Empty: never called.
  std::function<bool(const SolverProgress&)> keep_going = {};
};

// Finds the exact margin of positions under best play of both sides: alpha-beta
// by null windows, with a transposition table that is kept from solve to solve.
//
// Deterministic: the answers always, the nodes for the same sequence of calls.
// Not thread-safe: one owner.
class EndgameSolver : public LeafSolver {
 public:
  struct ActionValue {
    Action action;
    int red_margin;
  };
  struct Solution {
    int red_margin;
    // All actions that keep the margin, in their order; none once finished.
    std::vector<Action> best_actions;
  };

  explicit EndgameSolver(const SolverOptions& options = {});
  ~EndgameSolver() override;
  EndgameSolver(EndgameSolver&&) noexcept;
  EndgameSolver& operator=(EndgameSolver&&) noexcept;

  // Returns Red's points minus Blue's, as scored, under best play; or nothing
  // when the node limit was met, keep_going said so, or a swap may still come.
  std::optional<int> SolveRedMargin(const State& state) override;

  // The same, with the best actions. The node limit is for all together.
  std::optional<Solution> Solve(const State& state);

  // Returns the margins of all legal actions, with one node limit for all.
  std::optional<std::vector<ActionValue>> SolveActions(const State& state);

  // The results of the last call, even if incomplete.
  const SolverProgress& progress() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Returns up to how many vacant hills solving a position costs no more than
// about one evaluation by a small network (50 microseconds), on average:
// where it pays at the leaves of a search. Negative: nowhere.
int SolvableVacantHills(Variant variant);

// Sets what depends on the variant of the game that is searched: the margin
// deviation; and the solver, for leaves with at most
// options.solver_vacant_hills, which is lowered to what pays in the variant.
// The solver is borrowed: see SearchOptions::solver. None: nothing is solved.
void SetForVariant(Variant variant, LeafSolver* solver, SearchOptions& options);

// The solver of several trees that are searched concurrently: an EndgameSolver,
// with its own table, per thread that uses it at the same time. Thread-safe.
class SharedSolver : public LeafSolver {
 public:
  // Each EndgameSolver gets `options`.
  explicit SharedSolver(const SolverOptions& options = {});

  std::optional<int> SolveRedMargin(const State& state) override
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  const SolverOptions options_;
  absl::Mutex mutex_;
  // The latest used comes last, and is the next: one thread has one solver.
  std::vector<std::unique_ptr<EndgameSolver>> idle_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tara::mcts

#endif  // TARA_MCTS_SOLVER_ENDGAME_SOLVER_H_
