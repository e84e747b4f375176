#include "tara/mcts/evaluators/batching_evaluator.h"

#include <cstddef>
#include <utility>

#include "tara/base/check.h"
#include "tara/base/threads.h"

namespace tara::mcts {

BatchingEvaluator::BatchingEvaluator(Evaluator* evaluator, int max_batch)
    : evaluator_(evaluator), max_batch_(static_cast<size_t>(max_batch)) {
  TARA_CHECK(max_batch >= 1, "max_batch must be >= 1");
}

int64_t BatchingEvaluator::batches() const {
  absl::MutexLock lock(&mutex_);
  return batches_;
}

void BatchingEvaluator::AwaitWaiting(size_t requests) const {
  absl::MutexLock lock(&mutex_);
  const auto enough = [this, requests]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return waiting_.size() >= requests;
  };
  mutex_.Await(absl::Condition(&enough));
}

absl::Status BatchingEvaluator::Evaluate(absl::Span<const State> states,
                                         absl::Span<Evaluation> results) {
  Request own = {.states = states, .results = results};
  const auto my_turn = [this, &own]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return own.done || !busy_;
  };
  mutex_.Lock();
  waiting_.push_back(&own);
  // Requests before this one may fill a batch, which another thread, or this
  // one, then sees to.
  while (true) {
    mutex_.Await(absl::Condition(&my_turn));
    if (own.done) break;
    busy_ = true;
    const std::vector<Request*> requests = TakeBatch();
    ++batches_;
    mutex_.Unlock();
    const absl::Status status =
        CatchExhaustion([&] { return EvaluateMerged(requests); });
    mutex_.Lock();
    busy_ = false;
    for (Request* request : requests) {
      request->status = status;
      request->done = true;
    }
  }
  mutex_.Unlock();
  return own.status;
}

std::vector<BatchingEvaluator::Request*> BatchingEvaluator::TakeBatch() {
  size_t size = 0;
  size_t count = 0;
  while (count < waiting_.size()) {
    size += waiting_[count]->states.size();
    if (count > 0 && size > max_batch_) break;
    ++count;
  }
  const auto end = waiting_.begin() + static_cast<ptrdiff_t>(count);
  std::vector<Request*> requests(waiting_.begin(), end);
  waiting_.erase(waiting_.begin(), end);
  return requests;
}

absl::Status BatchingEvaluator::EvaluateMerged(
    absl::Span<Request* const> requests) {
  if (requests.size() == 1) {
    return evaluator_->Evaluate(requests[0]->states, requests[0]->results);
  }
  states_.clear();
  for (const Request* request : requests) {
    states_.insert(states_.end(), request->states.begin(),
                   request->states.end());
  }
  if (evaluations_.size() < states_.size()) evaluations_.resize(states_.size());
  const absl::Status status = evaluator_->Evaluate(
      states_, absl::MakeSpan(evaluations_).first(states_.size()));
  size_t next = 0;
  for (const Request* request : requests) {
    for (Evaluation& result : request->results) {
      std::swap(result, evaluations_[next++]);
    }
  }
  return status;
}

}  // namespace tara::mcts
