#include "tara/mcts/evaluators/batching_evaluator.h"

#include <cstddef>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tests/mcts/fake_evaluator.h"
#include "tests/mcts/positions.h"

namespace tara::mcts {
namespace {

// Answers as playouts do. The first batch is held back until it is released.
// Not for two threads at once, which it checks.
class HeldEvaluator : public Evaluator {
 public:
  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<Evaluation> results) override {
    EXPECT_EQ(states.size(), results.size());
    {
      absl::MutexLock lock(&mutex_);
      EXPECT_FALSE(busy_);
      busy_ = true;
      sizes_.push_back(states.size());
      mutex_.Await(absl::Condition(&released_));
    }
    const absl::Status status = states.size() == fatal_size
                                    ? absl::InternalError("told to fail")
                                    : playouts_.Evaluate(states, results);
    absl::MutexLock lock(&mutex_);
    busy_ = false;
    return status;
  }

  void AwaitFirstBatch() {
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(&busy_));
  }
  void Release() {
    absl::MutexLock lock(&mutex_);
    released_ = true;
  }
  std::vector<size_t> sizes() {
    absl::MutexLock lock(&mutex_);
    return sizes_;
  }

  size_t fatal_size = 0;

 private:
  PlayoutEvaluator playouts_{2, 9};
  absl::Mutex mutex_;
  bool busy_ ABSL_GUARDED_BY(mutex_) = false;
  bool released_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<size_t> sizes_ ABSL_GUARDED_BY(mutex_);
};

TEST(BatchingEvaluatorTest, EveryThreadGetsItsOwnAnswers) {
  HeldEvaluator backend;
  backend.Release();
  BatchingEvaluator evaluator(&backend, 7);
  PlayoutEvaluator twin(2, 9);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int round = 0; round < 60; ++round) {
        std::vector<State> states =
            RandomGame(static_cast<Variant>(round % kNumVariants), thread);
        states.resize(1 + (round + thread) % 5);
        EXPECT_TRUE(EvaluateAll(evaluator, states) ==
                    EvaluateAll(twin, states));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const size_t size : backend.sizes()) EXPECT_LE(size, 7u);
}

// Holds a first request of `first` positions in the backend while requests of
// three positions from four threads wait; returns the sizes of the batches.
std::vector<size_t> SizesBehind(HeldEvaluator& backend, int max_batch,
                                std::vector<absl::Status>& statuses) {
  BatchingEvaluator evaluator(&backend, max_batch);
  const std::vector<State> states = RandomGame(Variant::kFourTreasures, 1);
  const auto ask = [&](size_t size, absl::Status& status) {
    std::vector<Evaluation> results(size);
    status = evaluator.Evaluate(absl::MakeConstSpan(states).first(size),
                                absl::MakeSpan(results));
  };
  statuses.assign(5, absl::OkStatus());
  std::vector<std::thread> threads;
  threads.emplace_back([&] { ask(1, statuses[0]); });
  backend.AwaitFirstBatch();
  for (int i = 1; i <= 4; ++i) {
    threads.emplace_back([&, i] { ask(3, statuses[i]); });
  }
  evaluator.AwaitWaiting(4);
  backend.Release();
  for (std::thread& thread : threads) thread.join();
  return backend.sizes();
}

TEST(BatchingEvaluatorTest, RequestsThatWaitAreMergedUpToTheLimit) {
  const std::pair<int, std::vector<size_t>> kSizesByLimit[] = {
      {100, {1, 12}},
      {7, {1, 6, 6}},
      {2, {1, 3, 3, 3, 3}},  // a request is never divided
  };
  for (const auto& [max_batch, sizes] : kSizesByLimit) {
    HeldEvaluator backend;
    std::vector<absl::Status> statuses;
    EXPECT_EQ(SizesBehind(backend, max_batch, statuses), sizes);
  }
}

TEST(BatchingEvaluatorTest, AnErrorGoesToAllWhoHadAPartInIt) {
  HeldEvaluator backend;
  backend.fatal_size = 12;
  std::vector<absl::Status> statuses;
  SizesBehind(backend, 100, statuses);
  EXPECT_TRUE(statuses[0].ok());
  for (int i = 1; i <= 4; ++i) {
    EXPECT_EQ(statuses[i].message(), "told to fail");
  }
}

}  // namespace
}  // namespace tara::mcts
