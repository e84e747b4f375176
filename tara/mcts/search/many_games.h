#ifndef TARA_MCTS_SEARCH_MANY_GAMES_H_
#define TARA_MCTS_SEARCH_MANY_GAMES_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "tara/base/clocks.h"
#include "tara/base/threads.h"
#include "tara/core/state.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/options/search_options.h"
#include "tara/mcts/tree/tree.h"

namespace tara::mcts {

// Returns the error of a search out of memory after `made` simulations.
absl::Status NoMoreSimulations(int made);

// A game whose actions are chosen by search. Owned by one worker.
class SearchedGame {
 public:
  virtual ~SearchedGame() = default;

  // The search under way. REQUIRES: no leaf is in flight but while playing.
  virtual Tree& tree() = 0;

  // Whether the search may end here; asked before each round of leaves.
  virtual bool searched() { return tree().done(); }

  // Chooses and plays an action, once searched. Returns whether the game goes
  // on with another search; if not, the game is not asked again.
  virtual absl::StatusOr<bool> Play() = 0;

  // Called when the search ran out of memory. The tree is no longer usable, and
  // the game is over. Returns OK if other games can continue, else the error
  // for all: NoMoreSimulations.
  virtual absl::Status RunOut();
};

// A game of one search and no action: the search of a single position.
class OneSearch : public SearchedGame {
 public:
  explicit OneSearch(Tree* tree) : tree_(tree) {}
  Tree& tree() override { return *tree_; }
  absl::StatusOr<bool> Play() override { return false; }

 private:
  Tree* const tree_;
};

// Counts of searches; readable while they run. Thread-safe.
struct SearchCounters {
  std::atomic<int64_t> simulations = 0;
  std::atomic<int64_t> evaluations = 0;  // answers of the evaluator
  std::atomic<int64_t> known = 0;        // of these, given without a batch
  std::atomic<int64_t> batches = 0;
  // Leaves that waited for the next batch when one was made, over all batches.
  std::atomic<int64_t> left_waiting = 0;
};

// Where the time of searches goes: ns, summed over threads. Thread-safe.
struct SearchTimes {
  using Clock = absl::Time (*)();

  // Processor time; the time of day where an evaluator waits for a device.
  Clock clock = ThreadTime;
  // Answers into the trees and walks down to leaves, solving included.
  std::atomic<int64_t> gather = 0;
  // The evaluator itself, without caches before it.
  std::atomic<int64_t> evaluate = 0;
  std::atomic<int64_t> play = 0;  // choosing and recording actions
};

struct ManyGamesOptions {
  // Maximum number of games in progress: their leaves form a batch. A game
  // whose leaves are answered continues at once, so that batches stay full.
  int games = 32;
  // Leaves of one game in one batch, at most. More than 1 fills the batches of
  // a few games but chooses each leaf without knowing the value of the others,
  // which costs strength at equal simulations.
  int leaves_per_game = 1;
  // 1: the caller's thread gathers, evaluates and applies. 2: the games form
  // two groups that take turns; while the leaves of one are evaluated on
  // another thread, the leaves of the other are gathered. Useful if the
  // evaluator runs elsewhere (a GPU, other cores): batches are half as large.
  int groups = 1;
  // Where the time goes, to be added to; null: it is not measured. Clocks are
  // read a few times a batch and action. Of two groups, `evaluate` is the time
  // spent on looking up known positions and waiting for the other group.
  SearchTimes* times = nullptr;
};

// Hands out the games to play, one after another; null: there are no more.
using GameSource = std::function<std::unique_ptr<SearchedGame>()>;

// Plays games until the source has no more and all are over, or `stop` is true
// (the games in progress are then dropped, their trees with every answer that
// was given). What happens in a game depends on no other game and, with an
// evaluator whose answers do not depend on the batch, on leaves_per_game alone
// of the options. One worker; several may share source, evaluator and counters
// if these are thread-safe. Returns the first error of the evaluator or of a
// game; no leaf is then left in flight. RESOURCE_EXHAUSTED, with the number of
// simulations, if memory runs out; the trees are then no longer usable.
// REQUIRES: games, leaves_per_game >= 1; groups is 1 or 2.
absl::Status PlayManyGames(const ManyGamesOptions& options,
                           const GameSource& next_game, Evaluator& evaluator,
                           const std::function<bool()>& stop,
                           SearchCounters& counters);

// Runs the simulations of all trees to the end as PlayManyGames does, the
// leaves of all trees in one batch; trees that are done (or finished) do not
// change. REQUIRES: no leaf is in flight; no tree is given twice.
absl::Status RunSearches(absl::Span<Tree* const> trees, Evaluator& evaluator,
                         int leaves_per_game = 1);

struct SearchPositionsOptions {
  // Of each position. Its solver and margin deviation are set for the variant.
  SearchOptions search = ForPlay({.simulations = 1000});
  int leaves_per_game = 1;  // as in ManyGamesOptions
  uint64_t seed = 1;        // of noise, if the search has any
  int threads = 1;
  StopCheck stop = {};
  // Called often while searching, by each thread.
  std::function<void()> on_progress = {};
};

// Searches positions independently, concurrently as far as batches and memory
// allow. `on_searched` receives the tree of each with its index among the
// positions, on the thread that searched it, possibly from several threads at
// once. The trees depend on neither threads nor batches. Returns CANCELLED when
// `stop` is true, or the evaluator's errors; some trees were then not handed
// over. REQUIRES: no position is finished; the evaluator is thread-safe.
absl::Status SearchPositions(
    absl::Span<const State> positions, const SearchPositionsOptions& options,
    Evaluator& evaluator,
    const std::function<void(size_t place, Tree&& tree)>& on_searched,
    SearchCounters& counters);

// Returns a hash over what searches of fixed positions of all variants find,
// with fixed simulations and all options in turn (noise, graph, proof, Gumbel
// root, selection): the visits, values and bounds of the root's actions. It is
// the same on every run; a change that moves it changes what is searched.
uint64_t SearchSignature();

}  // namespace tara::mcts

#endif  // TARA_MCTS_SEARCH_MANY_GAMES_H_
