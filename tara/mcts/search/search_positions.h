#ifndef TARA_MCTS_SEARCH_SEARCH_POSITIONS_H_
#define TARA_MCTS_SEARCH_SEARCH_POSITIONS_H_

#include <cstddef>
#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "tara/base/stop.h"
#include "tara/core/state.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/options/search_options.h"
#include "tara/mcts/search/many_games.h"
#include "tara/mcts/tree/tree.h"

namespace tara::mcts {

struct SearchPositionsOptions {
  // Of each position. Its solver and margin deviation are set for the variant.
  SearchOptions search = ForPlay({.simulations = 1000});
  int leaves_per_game = 1;  // many_games.h
  uint64_t seed = 1;        // of noise, if the search has any
  int threads = 1;
  StopCheck stop = {};
  // Called often while searching, by each thread.
  std::function<void()> on_progress = {};
};

// Searches positions, each by itself, as many in step as make batches and as
// memory allows. `on_searched` gets the tree of each by its place among the
// positions, from the thread that searched it, several at a time. What it gets
// depends on neither threads nor batches.
//
// Returns CANCELLED when `stop` says so, or the evaluator's errors; some trees
// were then not handed over.
// REQUIRES: the positions are of one variant, and none is finished; the
// evaluator is thread-safe.
absl::Status SearchPositions(
    absl::Span<const State> positions, const SearchPositionsOptions& options,
    Evaluator& evaluator,
    const std::function<void(size_t place, const Tree& tree)>& on_searched,
    SearchCounters& counters);

}  // namespace tara::mcts

#endif  // TARA_MCTS_SEARCH_SEARCH_POSITIONS_H_
