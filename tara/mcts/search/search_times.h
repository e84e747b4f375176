#ifndef TARA_MCTS_SEARCH_SEARCH_TIMES_H_
#define TARA_MCTS_SEARCH_SEARCH_TIMES_H_

#include <atomic>
#include <cstdint>

#include "absl/time/time.h"
#include "tara/base/thread_time.h"

namespace tara::mcts {

// Where the time of a search goes: nanoseconds, summed over threads.
// Thread-safe.
struct SearchTimes {
  using Clock = absl::Time (*)();

  // Processor time by default; where an evaluator waits for a device, the time
  // of day says more.
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
  void Add(std::atomic<int64_t> SearchTimes::*stage) {
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

}  // namespace tara::mcts

#endif  // TARA_MCTS_SEARCH_SEARCH_TIMES_H_
