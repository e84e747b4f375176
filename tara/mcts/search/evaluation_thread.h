#ifndef TARA_MCTS_SEARCH_EVALUATION_THREAD_H_
#define TARA_MCTS_SEARCH_EVALUATION_THREAD_H_

#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"

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

}  // namespace tara::mcts

#endif  // TARA_MCTS_SEARCH_EVALUATION_THREAD_H_
