#ifndef TARA_ENGINE_THINKER_H_
#define TARA_ENGINE_THINKER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/engine/engine_game.h"
#include "tara/engine/engine_options.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/solver/endgame_solver.h"
#include "tara/mcts/time/time_manager.h"
#include "tara/mcts/tree/tree.h"

namespace tara::engine {

// What an analysis is to do.
struct AnalysisLimits {
  absl::Duration interval = absl::Seconds(1);  // between reports
  int simulations = 0;                         // 0: until it is stopped
};

// Searches the positions of one game after another, and keeps the tree between
// them where the options say so. Not thread-safe.
class Thinker {
 public:
  // The evaluator must outlive it.
  explicit Thinker(mcts::Evaluator* evaluator) : evaluator_(evaluator) {}

  // Chooses an action: within `budget` if there is one, else by the time or the
  // simulations of the options. Errors as the evaluator's.
  // REQUIRES: the game is not finished.
  absl::StatusOr<Action> Choose(const EngineGame& game,
                                const EngineOptions& options,
                                std::optional<mcts::MoveBudget> budget);

  // Searches, and reports the tree after every interval and at the end; each
  // time it has grown. Ends when `stop` says so, which is asked every few
  // simulations but not before some are made; at the limit; or when nothing is
  // left to be found out. With one thread the reports depend on the intervals,
  // but the tree at the limit does not. Errors as the evaluator's.
  // REQUIRES: the game is not finished.
  absl::Status Analyze(const EngineGame& game, const EngineOptions& options,
                       const AnalysisLimits& limits,
                       const std::function<bool()>& stop,
                       const std::function<void(const mcts::Tree&)>& report);

  // Forgets the tree, when options or the game have changed, and what was
  // drawn.
  void Forget();

 private:
  // Returns the kept tree if it leads to the game's position, or a new one.
  mcts::Tree& TreeOf(const EngineGame& game, const EngineOptions& options);
  bool Follow(const EngineGame& game, const EngineOptions& options);
  absl::Status Search(mcts::Tree& tree, const EngineOptions& options,
                      std::optional<mcts::MoveBudget> budget, absl::Time start);
  // The next few simulations of an analysis.
  absl::Status Step(mcts::Tree& tree, const EngineOptions& options, int limit,
                    absl::Duration time, const std::function<bool()>& stop);

  mcts::Evaluator* const evaluator_;
  mcts::SharedSolver solver_;
  std::optional<mcts::Tree> tree_;
  State start_ = {};    // of the game that the tree belongs to
  size_t plies_ = 0;    // actions of it that led to the tree's root
  uint64_t drawn_ = 0;  // streams that were begun since Forget
};

}  // namespace tara::engine

#endif  // TARA_ENGINE_THINKER_H_
