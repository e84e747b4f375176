// The cache, and the queues of evaluators with and without one.

#include "tara/mcts/evaluators/caching_evaluator.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/mcts/evaluator.h"
#include "tests/mcts/fake_evaluator.h"
#include "tests/mcts/positions.h"

namespace tara::mcts {
namespace {

using Request = EvaluationQueue::Request;

std::vector<State> AllPositions() {
  std::vector<State> states;
  for (const VariantInfo& info : kVariants) {
    const std::vector<State> game = RandomGame(info.variant, 1);
    states.insert(states.end(), game.begin(), game.end() - 1);
  }
  return states;
}

// Evaluates all states through the cache in batches and compares.
void ExpectSameAsUncached(CachingEvaluator& cache,
                          const std::vector<State>& states) {
  FakeEvaluator uncached;
  for (size_t first = 0; first < states.size(); first += 32) {
    const auto batch = absl::MakeConstSpan(states).subspan(first, 32);
    EXPECT_TRUE(EvaluateAll(cache, batch) == EvaluateAll(uncached, batch));
  }
}

TEST(CachingEvaluatorTest, APositionIsEvaluatedOnceWhereThereIsRoom) {
  const std::vector<State> states = AllPositions();
  const auto n = static_cast<int64_t>(states.size());
  for (const int64_t room : {0, 1, 100000}) {
    FakeEvaluator evaluator;
    CachingEvaluator cache(&evaluator, room);
    ExpectSameAsUncached(cache, states);
    EXPECT_EQ(evaluator.positions(), n);
    ExpectSameAsUncached(cache, states);
    EXPECT_EQ(cache.requests(), 2 * n);
    EXPECT_EQ(cache.hits(), 2 * n - evaluator.positions());
    EXPECT_EQ(cache.hits() == n, room > n);
    EXPECT_TRUE(room > 0 || cache.hits() == 0);
  }
}

TEST(CachingEvaluatorTest, TheLatestUsedAreKept) {
  // One position is asked for again and again among many others: it stays.
  const std::vector<State> states = AllPositions();
  FakeEvaluator evaluator;
  CachingEvaluator cache(&evaluator, 64);
  for (const State& state : states) {
    EvaluateOne(cache, states[0]);
    EvaluateOne(cache, state);
  }
  EXPECT_EQ(evaluator.positions(), static_cast<int>(states.size()));
}

TEST(CachingEvaluatorTest, ClearForgetsEverything) {
  const std::vector<State> states = {RandomGame(Variant::kSacredHillL1, 1)[0]};
  FakeEvaluator evaluator;
  CachingEvaluator cache(&evaluator, 100);
  ExpectSameAsUncached(cache, states);
  cache.Clear();
  ExpectSameAsUncached(cache, states);
  EXPECT_EQ(evaluator.positions(), 2);
}

TEST(CachingEvaluatorTest, ErrorsAreReturnedAndNotRemembered) {
  const std::vector<State> states = {RandomGame(Variant::kSacredHillL1, 1)[0]};
  FakeEvaluator evaluator;
  CachingEvaluator cache(&evaluator, 100);
  evaluator.FailAfter(0);
  std::vector<Evaluation> results(1);
  EXPECT_EQ(cache.Evaluate(states, absl::MakeSpan(results)).message(),
            "told to fail");
  evaluator.FailAfter(INT64_MAX);
  ExpectSameAsUncached(cache, states);
}

TEST(CachingEvaluatorTest, ThreadsMayShareIt) {
  const std::vector<State> states = AllPositions();
  FakeEvaluator evaluator;
  CachingEvaluator cache(&evaluator, 128);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 3; ++round) {
        ExpectSameAsUncached(cache, states);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(cache.requests(), static_cast<int64_t>(states.size()) * 12);
}

std::vector<int> Numbers(int begin, int end) {
  std::vector<int> numbers(end - begin);
  std::iota(numbers.begin(), numbers.end(), begin);
  return numbers;
}

// Positions of one game, submitted for by their numbers.
class EvaluationQueueTest : public testing::Test {
 protected:
  EvaluationQueueTest() : states_(RandomGame(Variant::kFourTreasures, 1)) {
    states_.resize(10);
    answers_.resize(2 * states_.size());
  }

  // A request for a position, with a result of its own.
  Request Submit(int position, int tag) {
    return {.state = &states_[position], .result = &answers_[tag], .tag = tag};
  }

  std::vector<Request> AskAll() {
    std::vector<Request> requests;
    for (int i = 0; i < 10; ++i) requests.push_back(Submit(i, i));
    return requests;
  }

  void ExpectAnswer(int position, int tag) {
    FakeEvaluator plain;
    EXPECT_TRUE(answers_[tag] == EvaluateOne(plain, states_[position])) << tag;
  }

  std::vector<State> states_;
  std::vector<Evaluation> answers_;
};

TEST_F(EvaluationQueueTest, ABatchIsAllOrAWholeMultiple) {
  EXPECT_EQ(BatchSize(7, 1), 7u);
  EXPECT_EQ(BatchSize(3, 4), 3u);
  EXPECT_EQ(BatchSize(4, 4), 4u);
  EXPECT_EQ(BatchSize(11, 4), 8u);
}

TEST_F(EvaluationQueueTest, WhatWaitsForLongestIsEvaluatedFirst) {
  for (const int64_t positions : {0, 100}) {  // of a cache
    FakeEvaluator evaluator(4);
    CachingEvaluator cache(&evaluator, positions);
    for (Evaluator* const submitted : {static_cast<Evaluator*>(&evaluator),
                                       static_cast<Evaluator*>(&cache)}) {
      evaluator.ForgetBatches();
      const std::unique_ptr<EvaluationQueue> queue = submitted->NewQueue();
      std::vector<int> answered;
      queue->Submit(AskAll(), answered);
      EXPECT_TRUE(answered.empty());
      ASSERT_TRUE(queue->Evaluate(answered).ok());
      EXPECT_EQ(answered, Numbers(0, 8));
      EXPECT_EQ(queue->waiting(), 2u);
      queue->Submit({Submit(2, 12)}, answered);
      // Only a cache knows it by now.
      if (queue->waiting() == 2) {
        EXPECT_EQ(answered.back(), 12);
        answered.pop_back();
      }
      while (queue->waiting() > 0) ASSERT_TRUE(queue->Evaluate(answered).ok());
      EXPECT_EQ(answered.size(),
                positions > 0 && submitted == &cache ? 10u : 11u);
      for (int i = 0; i < 10; ++i) ExpectAnswer(i, i);
      ExpectAnswer(2, 12);
    }
  }
}

TEST_F(EvaluationQueueTest, ACacheAnswersWhatItKnowsAtOnce) {
  FakeEvaluator evaluator(1);
  CachingEvaluator cache(&evaluator, 100);
  EvaluateAll(cache, absl::MakeConstSpan(states_).first(4));
  const std::unique_ptr<EvaluationQueue> queue = cache.NewQueue();
  std::vector<int> answered;
  queue->Submit(AskAll(), answered);
  EXPECT_EQ(answered, Numbers(0, 4));
  EXPECT_EQ(queue->waiting(), 6u);
  ASSERT_TRUE(queue->Evaluate(answered).ok());
  EXPECT_EQ(answered, Numbers(0, 10));
  EXPECT_EQ(evaluator.batch_sizes(), (std::vector<size_t>{4, 6}));
  EXPECT_EQ(cache.requests(), 14);
  EXPECT_EQ(cache.hits(), 4);
  for (int i = 0; i < 10; ++i) ExpectAnswer(i, i);
}

TEST_F(EvaluationQueueTest, OfACacheAsksOnceForWhatSeveralWaitFor) {
  FakeEvaluator evaluator(2);
  CachingEvaluator cache(&evaluator, 100);
  const std::unique_ptr<EvaluationQueue> queue = cache.NewQueue();
  std::vector<int> answered;
  queue->Submit({Submit(0, 0), Submit(1, 1), Submit(0, 2)}, answered);
  queue->Submit({Submit(2, 3), Submit(1, 4), Submit(2, 5)}, answered);
  EXPECT_EQ(queue->waiting(), 6u);
  ASSERT_TRUE(queue->Evaluate(answered).ok());
  EXPECT_EQ(answered, (std::vector<int>{0, 1, 2, 4}));
  queue->Submit({Submit(2, 6), Submit(3, 7)}, answered);
  ASSERT_TRUE(queue->Evaluate(answered).ok());
  EXPECT_EQ(answered, (std::vector<int>{0, 1, 2, 4, 3, 5, 6, 7}));
  EXPECT_EQ(evaluator.batch_sizes(), (std::vector<size_t>{2, 2}));
  EXPECT_EQ(cache.requests() - cache.hits(), 4);
  const std::vector<int> positions = {0, 1, 0, 2, 1, 2, 2, 3};
  for (int tag = 0; tag < 8; ++tag) ExpectAnswer(positions[tag], tag);
}

TEST_F(EvaluationQueueTest, AFailureEndsTheWaiting) {
  FakeEvaluator evaluator(4);
  CachingEvaluator cache(&evaluator, 100);
  for (Evaluator* const submitted :
       {static_cast<Evaluator*>(&evaluator), static_cast<Evaluator*>(&cache)}) {
    const std::unique_ptr<EvaluationQueue> queue = submitted->NewQueue();
    std::vector<int> answered;
    queue->Submit(AskAll(), answered);
    evaluator.FailAfter(0);
    EXPECT_EQ(queue->Evaluate(answered).message(), "told to fail");
    EXPECT_EQ(queue->waiting(), 0u);
    EXPECT_TRUE(answered.empty());
    evaluator.FailAfter(INT64_MAX);
    queue->Submit(AskAll(), answered);
    while (queue->waiting() > 0) ASSERT_TRUE(queue->Evaluate(answered).ok());
    EXPECT_EQ(answered, Numbers(0, 10));
    for (int i = 0; i < 10; ++i) ExpectAnswer(i, i);
  }
}

}  // namespace
}  // namespace tara::mcts
