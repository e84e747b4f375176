#include "tara/mcts/search/evaluation_thread.h"

#include <utility>

#include "tara/base/check.h"

namespace tara::mcts {

EvaluationThread::EvaluationThread() : thread_([this] { Run(); }) {}

EvaluationThread::~EvaluationThread() {
  {
    absl::MutexLock lock(&mutex_);
    const auto not_busy = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
      return stage_ != Stage::kStarted;
    };
    mutex_.Await(absl::Condition(&not_busy));
    stage_ = Stage::kClosed;
  }
  thread_.join();
}

void EvaluationThread::Start(std::function<absl::Status()> evaluate) {
  absl::MutexLock lock(&mutex_);
  TARA_CHECK(stage_ == Stage::kIdle, "one batch at a time");
  evaluate_ = std::move(evaluate);
  stage_ = Stage::kStarted;
}

absl::Status EvaluationThread::Wait() {
  absl::MutexLock lock(&mutex_);
  TARA_CHECK(stage_ != Stage::kIdle, "waiting for no batch");
  const auto evaluated = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return stage_ == Stage::kEvaluated;
  };
  mutex_.Await(absl::Condition(&evaluated));
  stage_ = Stage::kIdle;
  return status_;
}

void EvaluationThread::Run() {
  const auto called = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return stage_ == Stage::kStarted || stage_ == Stage::kClosed;
  };
  while (true) {
    std::function<absl::Status()> evaluate;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(&called));
      if (stage_ == Stage::kClosed) return;
      evaluate = std::move(evaluate_);
    }
    const absl::Status status = evaluate();
    absl::MutexLock lock(&mutex_);
    status_ = status;
    stage_ = Stage::kEvaluated;
  }
}

}  // namespace tara::mcts
