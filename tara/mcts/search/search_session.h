#ifndef TARA_MCTS_SEARCH_SEARCH_SESSION_H_
#define TARA_MCTS_SEARCH_SEARCH_SESSION_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <thread>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "tara/base/clocks.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/state.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/levels/levels.h"
#include "tara/mcts/options/search_options.h"
#include "tara/mcts/time/time_manager.h"
#include "tara/mcts/tree/tree.h"

namespace tara::mcts {

struct SessionOptions {
  // Its solver and margin deviation are set for the variant of each position.
  SearchOptions search = {};
  // Keep the subtree of the position that the game comes to. Not with a Gumbel
  // root, whose plan would not count the simulations that are kept.
  bool reuse = false;
  // Threads that search a position together. With more than one, how often each
  // action is visited depends on how they meet.
  int threads = 1;
  // As ManyGamesOptions::leaves_per_game, for each thread.
  int leaves_per_game = 1;
  // As ChoiceOptions.
  float confidence_z = 0;
  float temperature = 0;
  // Above 0, in their place: ChooseWithinMargin (levels.h).
  float value_margin = 0;
};

// Limits of time for the search of a position, in place of search.simulations
// where there is one. It also ends as soon as nothing can change the choice.
struct SearchTime {
  // By a game's clock: the target, or where another action may yet turn out
  // better, up to the limit. Both count from `start`.
  std::optional<MoveBudget> budget = {};
  absl::Time start = absl::InfinitePast();
  // The time of each search; zero: none.
  absl::Duration time = absl::ZeroDuration();
  std::function<absl::Time()> clock = SteadyTime;  // thread-safe

  bool limited() const {
    return budget.has_value() || time > absl::ZeroDuration();
  }
};

// The end of one search by time.
class SearchDeadline {
 public:
  // The search of the tree begins now.
  SearchDeadline(const SearchTime& time, const Tree& tree);

  // Returns the time, or the infinite past without a limit.
  absl::Time Now() const {
    return time_.limited() ? time_.clock() : absl::InfinitePast();
  }

  // Whether the time is over, or the choice will not change any more. Never
  // before a simulation was made.
  bool IsOver(const Tree& tree, absl::Time now);

 private:
  const SearchTime time_;
  int visits_before_ = 0;
  absl::Time begin_ = absl::InfinitePast();
  absl::Duration limit_ = absl::InfiniteDuration();
  std::optional<absl::Duration> target_;
  // The visits of the root are read then, and again after each slice.
  absl::Time next_look_ = absl::InfinitePast();
  absl::Duration slice_ = absl::ZeroDuration();
};

struct AnalysisLimits {
  absl::Duration interval = absl::Seconds(1);  // between reports
  int simulations = 0;                         // 0: until it is stopped
};

// The search of one game's positions, one after another: a tree that follows
// the game, the threads and the time of a search, the choice of an action, and
// pondering. The threads share the tree under a lock, and evaluate leaves
// outside of it.
//
// Where the functions that search fail, the tree is dropped: the next GoTo
// begins another. Their errors are the evaluator's, or RESOURCE_EXHAUSTED when
// memory runs out. Not thread-safe: one owner.
class SearchSession {
 public:
  // The evaluator, and the solver for search.solver_vacant_hills, must outlive
  // it. With several threads the evaluator must be thread-safe. An evaluator or
  // solver that is used elsewhere during pondering must be, too.
  SearchSession(const SessionOptions& options, Evaluator* evaluator,
                LeafSolver* solver);
  ~SearchSession();  // stops pondering
  SearchSession(const SearchSession&) = delete;
  SearchSession& operator=(const SearchSession&) = delete;

  const SessionOptions& options() const { return options_; }

  // Makes `state` the root, which `actions` have led to from the game's start.
  // Keeps the tree if they continue the actions of the last call and lead
  // there; else begins a new one, and calls `draw_seed` for it.
  // REQUIRES: the state is not finished; not pondering.
  void GoTo(const State& state, absl::Span<const Action> actions,
            const std::function<uint64_t()>& draw_seed);

  // REQUIRES: GoTo was called, and no search has failed since.
  Tree& tree() { return *tree_; }

  // Gives the root the simulations that a search within `time` may have, for
  // searches of several sessions' trees together (many_games.h).
  void SetSimulations(const SearchTime& time);

  // Searches the root; `stop` ends it between batches, with what was found by
  // then: maybe nothing.
  absl::Status Search(
      const SearchTime& time,
      const std::function<bool()>& stop = [] { return false; });

  // Searches, and reports the tree after every interval and at the end, when it
  // has grown. Ends when `stop` returns true (called every few simulations, but
  // not before the first ones), at the limit, or when nothing is left to do.
  // With one thread the tree at the limit does not depend on the intervals.
  // REQUIRES: not search.gumbel.
  absl::Status Analyze(const AnalysisLimits& limits,
                       const std::function<bool()>& stop,
                       const std::function<void(const Tree&)>& report);

  // Returns the action to play at the root. REQUIRES: it was searched.
  Action Choose(Random& random) const {
    return options_.value_margin > 0
               ? ChooseWithinMargin(*tree_, options_.value_margin, random)
               : ChooseAction(*tree_, options_.confidence_z,
                              options_.temperature, random);
  }

  // Plays an action, and if it is then the turn of another side searches on
  // `threads` threads of its own, up to `simulations`, until StopPondering:
  // not for reproducible games. Does nothing if no thread can be created.
  // REQUIRES: the action is legal; not search.gumbel; reuse.
  void Ponder(Action action, int simulations);
  // Waits for the batches under way, no longer. Does nothing unless it ponders.
  absl::Status StopPondering();

 private:
  bool Follow(const State& state, absl::Span<const Action> actions);
  // Searches until the tree is done, the time is over or `stop` is true, which
  // each thread asks between batches.
  absl::Status Run(const SearchTime& time, const std::function<bool()>& stop);

  const SessionOptions options_;
  Evaluator* const evaluator_;
  LeafSolver* const solver_;
  std::optional<Tree> tree_;
  size_t plies_ = 0;  // actions of the game that led to the root
  // Pondering: the thread has the tree, and `pondered_`, until it is joined.
  std::atomic<bool> stop_pondering_ = false;
  absl::Status pondered_;
  std::thread pondering_;
};

}  // namespace tara::mcts

#endif  // TARA_MCTS_SEARCH_SEARCH_SESSION_H_
