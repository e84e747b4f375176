#include "tara/mcts/search/run_searches.h"

#include <algorithm>
#include <cstddef>
#include <memory>

#include "tara/base/check.h"
#include "tara/mcts/search/many_games.h"

namespace tara::mcts {
absl::Status RunSearches(absl::Span<Tree* const> trees, Evaluator& evaluator,
                         const RunOptions& options) {
  TARA_CHECK(options.leaves_per_tree >= 1, "a batch has leaves");
  size_t next = 0;
  SearchCounters counters;
  return PlayManyGames(
      {.games = std::max<int>(1, static_cast<int>(trees.size())),
       .leaves_per_game = options.leaves_per_tree},
      [&]() -> std::unique_ptr<SearchedGame> {
        if (next == trees.size()) return nullptr;
        return std::make_unique<OneSearch>(trees[next++]);
      },
      evaluator, [] { return false; }, counters);
}

}  // namespace tara::mcts
