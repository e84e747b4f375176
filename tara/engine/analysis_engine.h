#ifndef TARA_ENGINE_ANALYSIS_ENGINE_H_
#define TARA_ENGINE_ANALYSIS_ENGINE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "tara/core/state.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/options/search_options.h"
#include "tara/mcts/search/many_games.h"
#include "tara/mcts/tree/tree.h"

namespace tara::engine {

enum class AnalysisEvent {
  kProgress,   // the search continues
  kDone,       // it is over
  kCancelled,  // it was broken off, or never began
  kFailed,     // the evaluator failed, or memory ran out
};

// A position to be searched.
struct AnalysisTask {
  State state;
  mcts::SearchOptions search;  // its solver is the engine's
  uint64_t seed = 1;
  // The search ends after so much time since it began, but not before the first
  // simulation.
  absl::Duration time = absl::InfiniteDuration();
  // The time between reports of progress.
  absl::Duration report_every = absl::InfiniteDuration();
  int priority = 0;  // larger first; of equals the one that was there first
  // Breaks the search off once true; tasks may share it. Null: never.
  std::shared_ptr<const std::atomic<bool>> cancelled = {};
  // Called with the search's progress any number of times, then once at its
  // end. `tree` is null of a search that failed or never began; the status is
  // OK unless it failed. Called from any thread of the engine, or the thread
  // that adds and sweeps; never under a lock.
  std::function<void(AnalysisEvent event, const mcts::Tree* tree,
                     const absl::Status& status)>
      listener = {};
};

struct AnalysisEngineOptions {
  int threads = 1;
  // Concurrent positions of a thread, whose leaves make a batch.
  int positions = 64;
  // As ManyGamesOptions::leaves_per_game.
  int leaves = 1;
};

// Searches many positions concurrently, with several positions per thread, like
// self-play. The search of a position depends on no other. A small number of
// positions is distributed evenly over the threads. Thread-safe.
class AnalysisEngine {
 public:
  // The evaluator must outlive it. Has fewer threads where there cannot be so
  // many; throws std::system_error where there can be none.
  AnalysisEngine(mcts::Evaluator* evaluator,
                 const AnalysisEngineOptions& options);
  // As Finish.
  ~AnalysisEngine();
  AnalysisEngine(const AnalysisEngine&) = delete;
  AnalysisEngine& operator=(const AnalysisEngine&) = delete;

  // REQUIRES: the position is not finished; not after Finish.
  void Add(AnalysisTask task) ABSL_LOCKS_EXCLUDED(mutex_);

  // Ends the tasks that wait and are cancelled. (Those under way notice by
  // themselves.)
  void SweepCancelled() ABSL_LOCKS_EXCLUDED(mutex_);

  // Blocks while kMaxWaiting tasks or more wait.
  void AwaitRoom() ABSL_LOCKS_EXCLUDED(mutex_);

  // Blocks until all tasks are over.
  void Finish() ABSL_LOCKS_EXCLUDED(mutex_);

  const mcts::SearchCounters& counters() const { return counters_; }

 private:
  struct Worker;
  class TaskSearch;

  // Blocks until there is a task or there will be no more; whether there is.
  bool AwaitTasks() ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns the next task for a worker; null: none, or it has its share.
  std::unique_ptr<AnalysisTask> Next(Worker& worker)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // A task of the worker is over.
  void Leave(Worker& worker) ABSL_LOCKS_EXCLUDED(mutex_);
  void Run() ABSL_LOCKS_EXCLUDED(mutex_);

  mcts::Evaluator* const evaluator_;
  const AnalysisEngineOptions options_;
  mcts::SearchCounters counters_;
  // Tasks that wait; a copy to be looked at without the lock.
  std::atomic<int64_t> num_waiting_ = 0;
  absl::Mutex mutex_;
  // By falling priority, then in the order of arrival.
  std::map<std::pair<int, int64_t>, std::unique_ptr<AnalysisTask>> waiting_
      ABSL_GUARDED_BY(mutex_);
  int64_t arrivals_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t searching_ ABSL_GUARDED_BY(mutex_) = 0;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;  // last: they use all of the above
};

}  // namespace tara::engine

#endif  // TARA_ENGINE_ANALYSIS_ENGINE_H_
