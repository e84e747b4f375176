#ifndef TARA_TESTS_MCTS_FAKE_EVALUATOR_H_
#define TARA_TESTS_MCTS_FAKE_EVALUATOR_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "tara/core/state.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/evaluators/simple_evaluators.h"

namespace tara::mcts {

inline bool operator==(const Evaluation& a, const Evaluation& b) {
  return a.priors == b.priors && a.win == b.win && a.draw == b.draw &&
         a.loss == b.loss && a.margin == b.margin && a.margins == b.margins;
}

// Evaluates by random games, notes the sizes of its batches, and fails where a
// test wants it to. Thread-safe.
class FakeEvaluator : public Evaluator {
 public:
  explicit FakeEvaluator(size_t batch_multiple = 1)
      : batch_multiple_(batch_multiple) {}

  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<Evaluation> results) override {
    EXPECT_EQ(states.size(), results.size());
    {
      absl::MutexLock lock(&mutex_);
      batch_sizes_.push_back(states.size());
      if (good_batches_-- <= 0) return absl::InternalError(error_);
    }
    return playouts_.Evaluate(states, results);
  }

  size_t batch_multiple() const override { return batch_multiple_; }

  // Fails after so many batches more, until it is called again.
  void FailAfter(int64_t batches, std::string error = "told to fail") {
    absl::MutexLock lock(&mutex_);
    good_batches_ = batches;
    error_ = std::move(error);
  }

  // Blocks until there were so many batches, failed ones included.
  void AwaitBatches(int64_t count) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    const auto enough = [this, count]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return static_cast<int64_t>(batch_sizes_.size()) >= count;
    };
    mutex_.Await(absl::Condition(&enough));
  }

  std::vector<size_t> batch_sizes() const ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return batch_sizes_;
  }
  int64_t batches() const { return static_cast<int64_t>(batch_sizes().size()); }
  int64_t positions() const {
    int64_t sum = 0;
    for (const size_t size : batch_sizes()) sum += static_cast<int64_t>(size);
    return sum;
  }
  void ForgetBatches() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    batch_sizes_.clear();
  }

 private:
  const size_t batch_multiple_;
  PlayoutEvaluator playouts_{1, 3};
  mutable absl::Mutex mutex_;
  std::vector<size_t> batch_sizes_ ABSL_GUARDED_BY(mutex_);
  int64_t good_batches_ ABSL_GUARDED_BY(mutex_) = INT64_MAX;
  std::string error_ ABSL_GUARDED_BY(mutex_);
};

// Returns the evaluations of positions, which must not fail.
inline std::vector<Evaluation> EvaluateAll(Evaluator& evaluator,
                                           absl::Span<const State> states) {
  std::vector<Evaluation> evaluations(states.size());
  EXPECT_TRUE(evaluator.Evaluate(states, absl::MakeSpan(evaluations)).ok());
  return evaluations;
}

inline Evaluation EvaluateOne(Evaluator& evaluator, const State& state) {
  return EvaluateAll(evaluator, {state})[0];
}

}  // namespace tara::mcts

#endif  // TARA_TESTS_MCTS_FAKE_EVALUATOR_H_
