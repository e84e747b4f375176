#include "tara/mcts/evaluators/caching_evaluator.h"

#include <cstdint>
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

std::vector<State> AllPositions() {
  std::vector<State> states;
  for (const VariantInfo& info : kVariants) {
    const std::vector<State> game = RandomGame(info.variant, 1);
    states.insert(states.end(), game.begin(), game.end() - 1);
  }
  return states;
}

void ExpectSame(const Evaluation& a, const Evaluation& b) {
  EXPECT_EQ(a.priors, b.priors);
  EXPECT_EQ(a.win, b.win);
  EXPECT_EQ(a.draw, b.draw);
  EXPECT_EQ(a.loss, b.loss);
  EXPECT_EQ(a.margin, b.margin);
  EXPECT_EQ(a.margins, b.margins);
}

// Evaluates all states through the cache in batches and compares.
void ExpectSameAsUncached(CachingEvaluator& cache,
                          const std::vector<State>& states) {
  FakeEvaluator uncached;
  std::vector<Evaluation> expected(states.size());
  std::vector<Evaluation> results(states.size());
  ASSERT_TRUE(uncached.Evaluate(states, absl::MakeSpan(expected)).ok());
  for (size_t first = 0; first < states.size(); first += 32) {
    ASSERT_TRUE(cache
                    .Evaluate(absl::MakeSpan(states).subspan(first, 32),
                              absl::MakeSpan(results).subspan(first, 32))
                    .ok());
  }
  for (size_t i = 0; i < states.size(); ++i)
    ExpectSame(results[i], expected[i]);
}

TEST(CachingEvaluatorTest, AnswersAreThoseOfTheEvaluator) {
  FakeEvaluator evaluator;
  CachingEvaluator cache(&evaluator, 10000);
  ExpectSameAsUncached(cache, AllPositions());
  ExpectSameAsUncached(cache, AllPositions());
}

TEST(CachingEvaluatorTest, AnswersAreRightHoweverSmallTheCacheIs) {
  FakeEvaluator evaluator;
  CachingEvaluator cache(&evaluator, 1);
  ExpectSameAsUncached(cache, AllPositions());
  ExpectSameAsUncached(cache, AllPositions());
  EXPECT_GT(evaluator.positions(), static_cast<int>(AllPositions().size()));
}

TEST(CachingEvaluatorTest, WithoutRoomItOnlyCounts) {
  FakeEvaluator evaluator;
  CachingEvaluator cache(&evaluator, 0);
  const std::vector<State> states = AllPositions();
  ExpectSameAsUncached(cache, states);
  ExpectSameAsUncached(cache, states);
  EXPECT_EQ(cache.requests(), 2 * static_cast<int64_t>(states.size()));
  EXPECT_EQ(cache.hits(), 0);
  cache.Clear();
}

TEST(CachingEvaluatorTest, APositionIsEvaluatedOnce) {
  const std::vector<State> game = RandomGame(Variant::kSacredHillL1, 1);
  const std::vector<State> states(game.begin(), game.end() - 1);
  const auto n = static_cast<int>(states.size());
  FakeEvaluator evaluator;
  CachingEvaluator cache(&evaluator, 10000);
  ExpectSameAsUncached(cache, states);
  EXPECT_EQ(evaluator.positions(), n);
  ExpectSameAsUncached(cache, states);
  EXPECT_EQ(evaluator.positions(), n);
  EXPECT_EQ(cache.requests(), 2 * n);
  EXPECT_EQ(cache.hits(), n);
}

TEST(CachingEvaluatorTest, APositionThatABatchRepeatsIsEvaluatedOnce) {
  const std::vector<State> game = RandomGame(Variant::kFourTreasures, 1);
  const std::vector<State> states = {game[3], game[4], game[3], game[3],
                                     game[4]};
  FakeEvaluator evaluator;
  CachingEvaluator cache(&evaluator, 10000);
  ExpectSameAsUncached(cache, states);
  EXPECT_EQ(evaluator.positions(), 2);
  EXPECT_EQ(cache.hits(), 3);
}

TEST(CachingEvaluatorTest, TheLatestUsedAreKept) {
  // One position is asked for again and again among many others: it stays.
  const std::vector<State> states = AllPositions();
  FakeEvaluator evaluator;
  CachingEvaluator cache(&evaluator, 64);
  Evaluation evaluation;
  for (const State& state : states) {
    for (const State& each : {states[0], state}) {
      ASSERT_TRUE(cache
                      .Evaluate(absl::MakeConstSpan(&each, 1),
                                absl::MakeSpan(&evaluation, 1))
                      .ok());
    }
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

}  // namespace
}  // namespace tara::mcts
