#ifndef TARA_MCTS_EVALUATORS_BATCHING_EVALUATOR_H_
#define TARA_MCTS_EVALUATORS_BATCHING_EVALUATOR_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "tara/core/state.h"
#include "tara/mcts/evaluator.h"

namespace tara::mcts {

// Merges the requests of several threads into larger batches of another
// evaluator, which is called by one thread at a time. No thread waits for
// others: one that finds the evaluator free takes along all requests that are
// waiting, and while it is busy the next batch grows. For evaluators whose
// large batches cost little more than small ones (a GPU).
//
// Thread-safe; the other evaluator need not be. An error of a merged batch goes
// to all callers that had a part in it.
class BatchingEvaluator : public Evaluator {
 public:
  // `evaluator` must outlive this. Batches are of at most `max_batch`
  // positions, but that a single request is never divided.
  BatchingEvaluator(Evaluator* evaluator, int max_batch);

  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<Evaluation> results) override
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Calls of the other evaluator so far.
  int64_t batches() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Blocks until that many requests wait for the evaluator.
  void AwaitWaiting(size_t requests) const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // One thread's request; lives on its stack.
  struct Request {
    absl::Span<const State> states;
    absl::Span<Evaluation> results;
    absl::Status status = absl::OkStatus();
    bool done = false;
  };

  // Takes the requests of the next batch out of the queue.
  std::vector<Request*> TakeBatch() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Evaluates requests in one batch. For one thread at a time.
  absl::Status EvaluateMerged(absl::Span<Request* const> requests);

  Evaluator* const evaluator_;
  const size_t max_batch_;
  mutable absl::Mutex mutex_;
  std::vector<Request*> waiting_ ABSL_GUARDED_BY(mutex_);  // oldest first
  bool busy_ ABSL_GUARDED_BY(mutex_) = false;
  int64_t batches_ ABSL_GUARDED_BY(mutex_) = 0;
  // The merged batch; used by the thread that has set busy_.
  std::vector<State> states_;
  std::vector<Evaluation> evaluations_;
};

}  // namespace tara::mcts

#endif  // TARA_MCTS_EVALUATORS_BATCHING_EVALUATOR_H_
