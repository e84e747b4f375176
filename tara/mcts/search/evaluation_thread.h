#ifndef TARA_MCTS_SEARCH_EVALUATION_THREAD_H_
#define TARA_MCTS_SEARCH_EVALUATION_THREAD_H_

#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "tara/core/state.h"
#include "tara/mcts/evaluator.h"

namespace tara {

// Evaluates one batch at a time on a thread of its own, so that its owner can
// do something else meanwhile. Start and Wait are for one owner.
class EvaluationThread {
 public:
  explicit EvaluationThread(Evaluator& evaluator);
  // Waits for a batch under way.
  ~EvaluationThread();
  EvaluationThread(const EvaluationThread&) = delete;
  EvaluationThread& operator=(const EvaluationThread&) = delete;

  // Begins with a batch; see Evaluator::Evaluate. The spans' memory must stay
  // until Wait. REQUIRES: the batch before has been waited for.
  void Start(absl::Span<const State> states, absl::Span<Evaluation> results)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Blocks until the batch is evaluated; returns the evaluator's status.
  // REQUIRES: a batch was started.
  absl::Status Wait() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  enum class Stage { kIdle, kStarted, kEvaluated, kClosed };

  void Run() ABSL_LOCKS_EXCLUDED(mutex_);

  Evaluator& evaluator_;
  absl::Mutex mutex_;
  Stage stage_ ABSL_GUARDED_BY(mutex_) = Stage::kIdle;
  absl::Span<const State> states_ ABSL_GUARDED_BY(mutex_);
  absl::Span<Evaluation> results_ ABSL_GUARDED_BY(mutex_);
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace tara

#endif  // TARA_MCTS_SEARCH_EVALUATION_THREAD_H_
