#include "tara/mcts/search/search_until.h"

#include <algorithm>
#include <atomic>
#include <memory>

#include "tara/base/check.h"
#include "tara/base/status_macros.h"
#include "tara/mcts/search/many_games.h"
#include "tara/mcts/search/threaded_search.h"

namespace tara::mcts {
namespace {

// Progress is measured after so much of the time again: looking at the root,
// and starting threads, takes some microseconds.
constexpr absl::Duration kLeastSlice = absl::Milliseconds(2);
constexpr absl::Duration kMostSlice = absl::Milliseconds(50);
constexpr int kSlices = 50;
// Threads that share a tree need room for what they are to do: so much at most
// at a time, for the room to be modest.
constexpr int kSharedSimulations = 1 << 17;

// Searches until `stop` is true or the slice is over; not before there is a
// simulation more, however late it is. So does SearchShared.
absl::Status SearchAlone(Tree& tree, Evaluator& evaluator,
                         const SearchUntilOptions& options,
                         absl::Time slice_end,
                         const std::function<bool()>& stop) {
  const int visits = tree.root_visits();
  const std::function<bool()> over = [&] {
    return stop() ||
           (tree.root_visits() > visits && options.clock() >= slice_end);
  };
  SearchCounters counters;
  bool started = false;
  return PlayManyGames(
      {.games = 1, .leaves_per_game = options.leaves_per_game},
      [&]() -> std::unique_ptr<SearchedGame> {
        if (started) return nullptr;
        started = true;
        return std::make_unique<OneSearch>(&tree, &over);
      },
      evaluator, over, counters);
}

absl::Status SearchShared(Tree& tree, Evaluator& evaluator,
                          const SearchUntilOptions& options,
                          absl::Time slice_end,
                          const std::function<bool()>& stop) {
  std::atomic<int> asked = 0;
  const auto over = [&] {
    return stop() ||
           (asked.fetch_add(1, std::memory_order_relaxed) >= options.threads &&
            options.clock() >= slice_end);
  };
  const int simulations = tree.options().simulations;
  tree.SetSimulations(
      std::min(simulations, tree.root_visits() + kSharedSimulations));
  const absl::Status status = SearchWithThreads(
      tree, evaluator,
      {.threads = options.threads, .leaves_per_game = options.leaves_per_game},
      over);
  tree.SetSimulations(simulations);
  return status;
}

}  // namespace

absl::Status SearchUntil(Tree& tree, Evaluator& evaluator,
                         const SearchUntilOptions& options,
                         const std::function<bool()>& stop) {
  TARA_CHECK(options.threads >= 1, "threads must be >= 1");
  const absl::Time start = options.clock();
  const absl::Duration slice =
      std::clamp(options.time / kSlices, kLeastSlice, kMostSlice);
  const int visits_before = tree.root_visits();
  while (!tree.done() && !stop()) {
    const absl::Time slice_end =
        std::min(options.clock() + slice, start + options.time);
    TARA_RETURN_IF_ERROR(
        options.threads == 1
            ? SearchAlone(tree, evaluator, options, slice_end, stop)
            : SearchShared(tree, evaluator, options, slice_end, stop));
    SearchProgress progress;
    progress.simulations = tree.root_visits();
    progress.new_simulations = progress.simulations - visits_before;
    progress.elapsed = options.clock() - start;
    progress.root_settled = tree.settled();
    CountVisits(tree.root_actions(), progress);
    if (progress.simulations > 0 && progress.elapsed >= options.time) break;
    if (options.is_enough && options.is_enough(progress)) break;
  }
  return absl::OkStatus();
}

}  // namespace tara::mcts
