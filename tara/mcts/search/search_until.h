#ifndef TARA_MCTS_SEARCH_SEARCH_UNTIL_H_
#define TARA_MCTS_SEARCH_SEARCH_UNTIL_H_

#include <atomic>
#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "tara/base/clocks.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/time/stop_rule.h"
#include "tara/mcts/tree/tree.h"

namespace tara::mcts {

// Where the time of a search goes: nanoseconds, summed over threads.
// Thread-safe.
struct SearchTimes {
  using Clock = absl::Time (*)();

  // Processor time by default; the time of day where an evaluator waits for a
  // device.
  Clock clock = ThreadTime;
  // Answers into the trees and walks down to leaves, solving included.
  std::atomic<int64_t> gather = 0;
  // The evaluator, whatever stands before it.
  std::atomic<int64_t> evaluate = 0;
  std::atomic<int64_t> play = 0;  // choosing and recording actions
};

// Adds up the times of one thread. Without SearchTimes it costs nothing.
class StageTimer {
 public:
  explicit StageTimer(SearchTimes* times) : times_(times) { Skip(); }

  // Adds the time since the last call to a stage.
  void Add(std::atomic<int64_t> SearchTimes::* stage) {
    if (times_ == nullptr) return;
    const absl::Time now = times_->clock();
    (times_->*stage)
        .fetch_add(absl::ToInt64Nanoseconds(now - last_),
                   std::memory_order_relaxed);
    last_ = now;
  }

  // Adds the time since the last call to none.
  void Skip() {
    if (times_ != nullptr) last_ = times_->clock();
  }

 private:
  SearchTimes* const times_;
  absl::Time last_;
};

struct SearchUntilOptions {
  int threads = 1;
  // As ManyGamesOptions::leaves_per_game, for each thread.
  int leaves_per_game = 1;
  // The search ends after so much time, between batches, but not before the
  // first simulation.
  absl::Duration time = absl::InfiniteDuration();
  std::function<absl::Time()> clock = SteadyTime;  // thread-safe
  // Ends the search, too; called less often. Empty: never.
  std::function<bool(const SearchProgress&)> is_enough = {};
};

// Searches one position until the tree is done, the options end it, or `stop`
// is true, which is checked between batches (by every thread, so that nothing
// waits for longer than a batch). With one thread the tree has one owner; with
// several they share it (threaded_search.h).
//
// Errors as the evaluator's; no leaf is then left in flight.
// REQUIRES: no leaf is in flight; the root is not finished; threads,
// leaves_per_game >= 1; with several threads what SearchWithThreads requires.
absl::Status SearchUntil(Tree& tree, Evaluator& evaluator,
                         const SearchUntilOptions& options,
                         const std::function<bool()>& stop);

}  // namespace tara::mcts

#endif  // TARA_MCTS_SEARCH_SEARCH_UNTIL_H_
