#ifndef TARA_MCTS_SEARCH_SEARCH_SESSION_H_
#define TARA_MCTS_SEARCH_SEARCH_SESSION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
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

struct PonderingLimits {
  int threads = 1;
  // As ManyGamesOptions::leaves_per_game, for each thread.
  int leaves_per_game = 1;
  // Simulations through the root, those that the tree begins with included. An
  // opponent may take hours: this many take about a gigabyte.
  int simulations = 1 << 21;
};

// Searches a position on threads of its own during the opponent's turn. When
// the opponent has played, the owner stops it and advances the tree by the
// action played (Tree::Advance).
//
// The tree that comes back depends on how long it was away: nothing that is to
// be the same every time may ponder. Not thread-safe: one owner.
class Pondering {
 public:
  Pondering();
  ~Pondering();  // stops; the tree is lost

  Pondering(const Pondering&) = delete;
  Pondering& operator=(const Pondering&) = delete;

  // Takes a tree and searches it until it is done, the limits are met or Stop
  // is called. Meanwhile its threads use the tree's solver, if it has one, and
  // the evaluator, which must outlive the search.
  // Where no thread can be made it does not start, and the tree is lost.
  // REQUIRES: as SearchUntil; not started.
  void Start(Tree tree, Evaluator& evaluator, const PonderingLimits& limits);

  // Ends the search and returns the tree, its limit of simulations as it was
  // before. Waits for the batches being evaluated, no longer. Returns the
  // evaluator's error if it failed. REQUIRES: started.
  absl::StatusOr<Tree> Stop();

  // Between Start and Stop, whether or not the search has met its limits.
  bool started() const { return search_ != nullptr; }

 private:
  struct Search;
  std::unique_ptr<Search> search_;
};

struct SessionOptions {
  // Its solver and margin deviation are set for the variant of each position.
  SearchOptions search = {};
  // Keep the subtree of the position that the game comes to. Not with a Gumbel
  // root: it plans for all its simulations, and those kept would be more.
  bool reuse = false;
  // Threads that search a position together (threaded_search.h).
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
// where there is one. With a time the search also ends where nothing can change
// the choice any more.
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

struct AnalysisLimits {
  absl::Duration interval = absl::Seconds(1);  // between reports
  int simulations = 0;                         // 0: until it is stopped
};

// The search of one game's positions, one after another: a tree that follows
// the game, the time for a search, the choice of an action, and pondering.
// Where the functions that search fail, with the evaluator's error, the tree is
// dropped: the next GoTo begins another. Not thread-safe: one owner.
class SearchSession {
 public:
  // The evaluator, and the solver for search.solver_vacant_hills, must outlive
  // it, and be thread-safe with several threads or pondering.
  SearchSession(const SessionOptions& options, Evaluator* evaluator,
                LeafSolver* solver);

  const SessionOptions& options() const { return options_; }

  // Makes `state` the root, which `actions` have led to from the game's start.
  // The tree is the one kept, if they continue the actions of the last call and
  // lead there; else a new one, for which `draw_seed` is called.
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

  // Searches, and reports the tree after every interval and at the end; each
  // time it has grown. Ends when `stop` is true, which is asked every few
  // simulations but not before some are made; at the limit; or when nothing is
  // left to be found out. With one thread the reports depend on the intervals,
  // but the tree at the limit does not. REQUIRES: not search.gumbel.
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
  // `threads` threads of its own, to so many simulations, until StopPondering.
  // REQUIRES: the action is legal; not search.gumbel; reuse.
  void Ponder(Action action, int simulations);
  // Does nothing unless it ponders.
  absl::Status StopPondering();

 private:
  bool Follow(const State& state, absl::Span<const Action> actions);
  // The next few simulations of an analysis.
  absl::Status AnalyzeSome(int limit, absl::Duration time,
                           const std::function<bool()>& stop);

  const SessionOptions options_;
  Evaluator* const evaluator_;
  LeafSolver* const solver_;
  std::optional<Tree> tree_;
  size_t plies_ = 0;     // actions of the game that led to the root
  Pondering pondering_;  // has the tree meanwhile
};

}  // namespace tara::mcts

#endif  // TARA_MCTS_SEARCH_SEARCH_SESSION_H_
