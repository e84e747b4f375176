#ifndef TARA_MCTS_SEARCH_PONDERING_H_
#define TARA_MCTS_SEARCH_PONDERING_H_

#include <memory>

#include "absl/status/statusor.h"
#include "tara/mcts/evaluator.h"
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

}  // namespace tara::mcts

#endif  // TARA_MCTS_SEARCH_PONDERING_H_
