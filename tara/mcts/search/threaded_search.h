#ifndef TARA_MCTS_SEARCH_THREADED_SEARCH_H_
#define TARA_MCTS_SEARCH_THREADED_SEARCH_H_

#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/tree/tree.h"

namespace tara::mcts {

// Evaluates one batch at a time on a thread of its own, so that its owner can
// do something else meanwhile. Start and Wait are for one owner.
class EvaluationThread {
 public:
  EvaluationThread();
  // Waits for a batch under way.
  ~EvaluationThread();
  EvaluationThread(const EvaluationThread&) = delete;
  EvaluationThread& operator=(const EvaluationThread&) = delete;

  // Begins with a batch: calls `evaluate`. REQUIRES: the batch before has been
  // waited for.
  void Start(std::function<absl::Status()> evaluate)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Blocks until the batch is evaluated; returns what `evaluate` did.
  // REQUIRES: a batch was started.
  absl::Status Wait() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  enum class Stage { kIdle, kStarted, kEvaluated, kClosed };

  void Run() ABSL_LOCKS_EXCLUDED(mutex_);

  absl::Mutex mutex_;
  Stage stage_ ABSL_GUARDED_BY(mutex_) = Stage::kIdle;
  std::function<absl::Status()> evaluate_ ABSL_GUARDED_BY(mutex_);
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;  // last: it uses all of the above
};

// Returns the error of a search that there is no memory to go on with, after so
// many simulations.
absl::Status NoMoreSimulations(int made);

struct ThreadedSearchOptions {
  int threads = 2;
  // As ManyGamesOptions::leaves_per_game, for each thread.
  int leaves_per_game = 1;
};

// Runs the simulations of one tree on several threads, for analysis and
// matches; ends when the tree is done or `stop` is true, which each thread
// checks between batches. The threads share the tree without locks, but for one
// bit of a node while one of its edges is made, and of an edge while one thread
// has what is below it to itself (shared_walker.h). A thread that finds nothing
// to gather, because others are at all the leaves it comes to, waits until one
// of them is evaluated.
//
// How often each action is visited depends on how the threads meet: for the
// same search every time, use one thread. Some simulations more than asked for
// may be done: a batch a thread, and the 64 it may be busy with by itself.
//
// Errors as the evaluator's, which is called by several threads at a time, as
// is the tree's solver; no leaf is then left in flight. RESOURCE_EXHAUSTED
// where there is no memory to go on; the tree is then of no more use. REQUIRES:
// no leaf is in flight; the root is not finished; not tree.options().gumbel;
// threads, leaves_per_game >= 1; with several threads a solver, if there is
// one, is thread-safe.
absl::Status SearchWithThreads(Tree& tree, Evaluator& evaluator,
                               const ThreadedSearchOptions& options,
                               const std::function<bool()>& stop);

}  // namespace tara::mcts

#endif  // TARA_MCTS_SEARCH_THREADED_SEARCH_H_
